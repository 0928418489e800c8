//! A GraphML file as it stands: keys, and graphs of nodes and edges with data.

use std::collections::HashMap;
use std::path::Path;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::dataset::Limits;
use crate::dataset::text::line_at;
use crate::error::{Error, Fix, Limit, Place, Problem, Result, shown};

/// How deep elements may nest; GraphML itself needs four levels.
const MAX_DEPTH: usize = 64;

/// A file.
#[derive(Default)]
pub(super) struct Document {
    pub(super) keys: Vec<Key>,
    pub(super) graphs: Vec<Graph>,
    /// Elements that were skipped, by name.
    pub(super) skipped: Vec<String>,
    /// Keys with a default, for nodes, edges and graphs.
    defaults: [Vec<usize>; 3],
}

/// What keys can be for, in the order of [`Document::defaults`].
const SCOPES: [&str; 3] = ["node", "edge", "graph"];

/// A declared attribute.
pub(super) struct Key {
    pub(super) id: String,
    /// `node`, `edge`, `graph`, `all`, …
    pub(super) scope: String,
    pub(super) name: Option<String>,
    pub(super) kind: Kind,
    pub(super) default: Option<String>,
}

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Float,
    Boolean,
    Text,
}

impl Kind {
    /// The type that holds the values of both.
    pub(super) fn wider(self, other: Kind) -> Kind {
        use Kind::{Boolean, Float, Integer, Text};
        match (self, other) {
            (Text, _) | (_, Text) => Text,
            (Float, _) | (_, Float) => Float,
            (Integer, _) | (_, Integer) => Integer,
            (Boolean, Boolean) => Boolean,
        }
    }
}

/// Values by position of their key.
pub(super) type Data = Vec<(usize, String)>;

#[derive(Default)]
pub(super) struct Graph {
    pub(super) id: Option<String>,
    pub(super) line: u64,
    pub(super) directed: bool,
    pub(super) data: Data,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

#[derive(Default)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) line: u64,
    pub(super) data: Data,
}

#[derive(Default)]
pub(super) struct Edge {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) has_id: bool,
    /// Where the edge itself says so.
    pub(super) directed: Option<bool>,
    pub(super) line: u64,
    pub(super) data: Data,
}

/// The element being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    GraphMl,
    Key,
    Default,
    Graph,
    Node,
    Edge,
    /// A value of the key at this position.
    Data(usize),
    /// Something that is not read.
    Skipped,
}

impl Document {
    /// The positions of the keys for `scope` that have a default.
    pub(super) fn defaults(&self, scope: &str) -> impl Iterator<Item = usize> + '_ {
        let place = SCOPES.iter().position(|known| *known == scope);
        let keys = place.and_then(|place| self.defaults.get(place));
        keys.into_iter().flatten().copied()
    }

    /// Parses the text of `file`.
    pub(super) fn parse(file: &Path, text: &str, limits: &Limits) -> Result<Document> {
        let mut parser = Parser {
            file,
            max_nodes: limits.max_nodes,
            text,
            line: 1,
            counted: 0,
            document: Document::default(),
            key_by_id: HashMap::new(),
            stack: Vec::new(),
            value: String::new(),
        };
        let mut reader = Reader::from_str(text);
        loop {
            parser.count_to(reader.buffer_position());
            let event = reader.read_event().map_err(|e| {
                parser.count_to(reader.error_position());
                parser.malformed(&e.to_string())
            })?;
            match event {
                Event::Start(element) => parser.start(&element)?,
                Event::End(_) => parser.end(),
                Event::Empty(element) => {
                    parser.start(&element)?;
                    parser.end();
                }
                Event::Text(text) => parser.append(&text.xml10_content()),
                Event::CData(text) => parser.append(&text.xml10_content()),
                Event::GeneralRef(entity) => {
                    let known = match entity.resolve_char_ref() {
                        Ok(Some(char)) => Some(char.to_string()),
                        Ok(None) => {
                            resolve_predefined_entity(&entity.xml10_content()).map(str::to_owned)
                        }
                        Err(e) => return Err(parser.malformed(&e.to_string())),
                    };
                    let name = entity.xml10_content();
                    parser.append(&known.ok_or_else(|| {
                        parser.refuse(
                            format!("the entity {} is not one of XML's own", shown(&name)),
                            "entities are not expanded: write the text itself",
                        )
                    })?);
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        if !parser.stack.is_empty() {
            return Err(parser.malformed("the file ends inside an element"));
        }
        if parser.document.graphs.is_empty() {
            return Err(Error::input(
                file,
                Place::Whole,
                "there is no `<graph>` in it",
                "export the graph again, as GraphML",
            ));
        }
        Ok(parser.document)
    }
}

struct Parser<'a> {
    file: &'a Path,
    max_nodes: u64,
    text: &'a str,
    /// The line of the byte at `counted`.
    line: u64,
    counted: usize,
    document: Document,
    key_by_id: HashMap<String, usize>,
    stack: Vec<Inside>,
    /// The text of the `data` or `default` being read.
    value: String,
}

impl Parser<'_> {
    fn count_to(&mut self, position: u64) {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        if let Some(passed) = self.text.as_bytes().get(self.counted..position) {
            self.line += line_at(passed) - 1;
            self.counted = position;
        }
    }

    fn start(&mut self, element: &BytesStart) -> Result<()> {
        let name = element.local_name();
        let name = name.as_ref();
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.refuse(
                format!("{} is nested more than {MAX_DEPTH} deep", shown(name)),
                "GraphML is flat: export the graph again",
            ));
        }
        let inside = match (self.stack.last(), name) {
            (None, "graphml") => Inside::GraphMl,
            (None, _) => {
                return Err(self.refuse(
                    format!("the file begins with {}, not with `graphml`", shown(name)),
                    "give a GraphML file",
                ));
            }
            (Some(Inside::GraphMl), "key") => self.key(element)?,
            (Some(Inside::GraphMl), "graph") => self.graph(element)?,
            (Some(Inside::Key), "default") => {
                self.value.clear();
                Inside::Default
            }
            (Some(Inside::Graph), "node") => self.node(element)?,
            (Some(Inside::Graph), "edge") => self.edge(element)?,
            (Some(Inside::Graph | Inside::Node | Inside::Edge), "data") => self.data(element)?,
            (Some(Inside::Graph), "hyperedge") => return Err(self.beyond("a hyperedge")),
            (Some(Inside::Node), "port") => return Err(self.beyond("a port")),
            (Some(Inside::Graph | Inside::Node | Inside::Edge), "graph") => {
                return Err(self.beyond("a graph inside another"));
            }
            (Some(Inside::Graph | Inside::Node | Inside::Edge), other) if other != "desc" => {
                let skipped = &mut self.document.skipped;
                if !skipped.iter().any(|known| known == other) && skipped.len() < 16 {
                    skipped.push(other.to_owned());
                }
                Inside::Skipped
            }
            _ => Inside::Skipped,
        };
        self.stack.push(inside);
        Ok(())
    }

    fn end(&mut self) {
        let value = || self.value.clone();
        match (self.stack.pop(), self.stack.last()) {
            (Some(Inside::Default), _) => {
                let value = value();
                let position = self.document.keys.len().wrapping_sub(1);
                if let Some(key) = self.document.keys.last_mut() {
                    for (scope, keys) in SCOPES.iter().zip(&mut self.document.defaults) {
                        if key.default.is_none() && [scope, "all"].contains(&&*key.scope) {
                            keys.push(position);
                        }
                    }
                    key.default = Some(value);
                }
            }
            (Some(Inside::Data(key)), Some(owner)) => {
                let Some(graph) = self.document.graphs.last_mut() else {
                    return;
                };
                let data = match owner {
                    Inside::Node => graph.nodes.last_mut().map(|node| &mut node.data),
                    Inside::Edge => graph.edges.last_mut().map(|edge| &mut edge.data),
                    _ => Some(&mut graph.data),
                };
                if let Some(data) = data {
                    data.push((key, value()));
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, text: &str) {
        if let Some(Inside::Data(_) | Inside::Default) = self.stack.last() {
            self.value.push_str(text);
        }
    }

    fn key(&mut self, element: &BytesStart) -> Result<Inside> {
        let [id, scope, name, kind] =
            self.attributes(element, ["id", "for", "attr.name", "attr.type"])?;
        let id = self.needed(id, "key", "id")?;
        let kind = match kind.as_deref() {
            Some("int" | "long") => Kind::Integer,
            Some("float" | "double") => Kind::Float,
            Some("boolean") => Kind::Boolean,
            Some("string") | None => Kind::Text,
            Some(other) => {
                return Err(self.refuse(
                    format!("the key's type {} is unknown", shown(other)),
                    "use boolean, int, long, float, double or string",
                ));
            }
        };
        let position = self.document.keys.len();
        if self.key_by_id.insert(id.clone(), position).is_some() {
            return Err(self.refuse(
                format!("the key {} is declared twice", shown(&id)),
                "declare every key once",
            ));
        }
        self.document.keys.push(Key {
            id,
            scope: scope.unwrap_or_else(|| "all".to_owned()),
            name,
            kind,
            default: None,
        });
        Ok(Inside::Key)
    }

    fn graph(&mut self, element: &BytesStart) -> Result<Inside> {
        let [id, default] = self.attributes(element, ["id", "edgedefault"])?;
        let directed = match default.as_deref() {
            Some("directed") => true,
            Some("undirected") | None => false,
            Some(other) => {
                return Err(self.refuse(
                    format!("edgedefault is {}", shown(other)),
                    "write directed or undirected",
                ));
            }
        };
        self.document.graphs.push(Graph { id, directed, line: self.line, ..Graph::default() });
        Ok(Inside::Graph)
    }

    fn node(&mut self, element: &BytesStart) -> Result<Inside> {
        let [id] = self.attributes(element, ["id"])?;
        let node = Node { id: self.needed(id, "node", "id")?, line: self.line, data: Data::new() };
        let Some(graph) = self.document.graphs.last_mut() else {
            return Ok(Inside::Skipped);
        };
        graph.nodes.push(node);
        if graph.nodes.len() as u64 > self.max_nodes {
            let problem = Problem::Beyond {
                limit: Limit::Nodes,
                found: None,
                allowed: self.max_nodes,
                what: "the graph has more".into(),
                fix: None,
            };
            return Err(problem.at(self.file, Place::Line(self.line)));
        }
        Ok(Inside::Node)
    }

    fn edge(&mut self, element: &BytesStart) -> Result<Inside> {
        let names = ["id", "source", "target", "directed", "sourceport", "targetport"];
        let [id, source, target, directed, source_port, target_port] =
            self.attributes(element, names)?;
        if source_port.is_some() || target_port.is_some() {
            return Err(self.beyond("an edge between ports"));
        }
        let directed = match directed.as_deref() {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(other) => {
                return Err(self.refuse(
                    format!("the edge's `directed` is {}", shown(other)),
                    "write true or false",
                ));
            }
        };
        let edge = Edge {
            source: self.needed(source, "edge", "source")?,
            target: self.needed(target, "edge", "target")?,
            has_id: id.is_some(),
            directed,
            line: self.line,
            data: Data::new(),
        };
        if let Some(graph) = self.document.graphs.last_mut() {
            graph.edges.push(edge);
        }
        Ok(Inside::Edge)
    }

    fn data(&mut self, element: &BytesStart) -> Result<Inside> {
        let [key] = self.attributes(element, ["key"])?;
        let key = self.needed(key, "data", "key")?;
        let known = self.key_by_id.get(&key).copied();
        self.value.clear();
        known.map(Inside::Data).ok_or_else(|| {
            self.refuse(
                format!("the key {} is not declared", shown(&key)),
                "declare it with `<key id=… for=… attr.name=… attr.type=…/>` at the top",
            )
        })
    }

    /// The values of the attributes called `names`.
    fn attributes<const N: usize>(
        &self,
        element: &BytesStart,
        names: [&str; N],
    ) -> Result<[Option<String>; N]> {
        let mut values = [const { None }; N];
        let mut attributes = element.attributes();
        // Checked for repeats, a million attributes take a million million steps.
        attributes.with_checks(false);
        for attribute in attributes {
            let attribute = attribute.map_err(|e| self.malformed(&e.to_string()))?;
            let name = attribute.key.as_ref();
            if let Some(position) = names.iter().position(|known| *known == name) {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|e| self.malformed(&e.to_string()))?;
                values[position] = Some(value.into_owned());
            }
        }
        Ok(values)
    }

    fn needed(&self, value: Option<String>, element: &str, attribute: &str) -> Result<String> {
        value.ok_or_else(|| {
            self.refuse(format!("the `<{element}>` has no `{attribute}`"), "export the graph again")
        })
    }

    fn beyond(&self, what: &str) -> Error {
        self.refuse(
            format!("there is {what}"),
            "only plain graphs can be read: nodes, and edges between two of them",
        )
    }

    fn malformed(&self, problem: &str) -> Error {
        self.refuse(
            format!("this is not well-formed XML ({problem})"),
            "the file may be cut short: export it again",
        )
    }

    fn refuse(&self, problem: String, fix: impl Into<Fix>) -> Error {
        Error::input(self.file, Place::Line(self.line), problem, fix)
    }
}
