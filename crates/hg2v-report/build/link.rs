//! ES modules, joined into one script.
//!
//! A page that opens from a disk cannot load modules: a browser lets no file import another. So each
//! becomes a function that is called once, after those that it imports from, and its exports what
//! that function returns:
//!
//! ```text
//! import { make } from "./dom.js";        modules["panel.js"] = (() => {
//!                                         const { make } = modules["dom.js"];
//! export class Panel { … }          ─▶    class Panel { … }
//!                                         return { Panel };
//!                                         })();
//! ```
//!
//! Lines stay lines, comments too, so that the page can be read. What modules may say is a little of
//! what they might: named imports, and named declarations that never change. All else is refused, and
//! so are modules that import each other in a circle.

use std::fmt::Write;

/// Joins `entry` and all modules that it imports, each read by its name.
pub(crate) fn link(
    entry: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut linker = Linker { read, linked: Vec::new(), open: Vec::new() };
    linker.add(entry)?;
    let mut script = String::from(
        "\n// Several modules as one script: each is a function, and what it exports is in `modules`.\n\
         const modules = {};\n",
    );
    for Module { name, body, exports, .. } in &linker.linked {
        let exports = exports.join(", ");
        let _ = write!(
            script,
            "\nmodules[\"{name}\"] = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"
        );
    }
    Ok(script)
}

struct Linker<'a> {
    read: &'a dyn Fn(&str) -> Result<String, String>,
    /// Those that are done, each after those that it imports from.
    linked: Vec<Module>,
    /// Those whose imports are being looked at, the entry first.
    open: Vec<String>,
}

impl Linker<'_> {
    fn add(&mut self, name: &str) -> Result<(), String> {
        if self.linked.iter().any(|module| module.name == name) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == name) {
            return Err(format!("{} → {name} is a circle", self.open.join(" → ")));
        }
        let module = Module::parse(name, &(self.read)(name)?)?;
        self.open.push(name.to_owned());
        for Import { line, from, names } in &module.imports {
            self.add(from)?;
            let exports = self.linked.iter().find(|other| other.name == *from);
            let known = |name: &&String| exports.is_some_and(|other| other.exports.contains(name));
            if let Some(stray) = names.iter().find(|name| !known(name)) {
                return Err(format!("{name}:{line}: {from} does not export {stray}"));
            }
        }
        self.open.pop();
        self.linked.push(module);
        Ok(())
    }
}

struct Module {
    name: String,
    imports: Vec<Import>,
    exports: Vec<String>,
    /// The inside of the function.
    body: String,
}

struct Import {
    line: usize,
    from: String,
    names: Vec<String>,
}

impl Module {
    fn parse(name: &str, source: &str) -> Result<Module, String> {
        let mut module =
            Module { name: name.to_owned(), imports: vec![], exports: vec![], body: String::new() };
        let mut lines = source.lines().enumerate().map(|(at, line)| (at + 1, line));
        while let Some((at, line)) = lines.next() {
            let refuse = |problem: &str| Err(format!("{name}:{at}: {problem}"));
            // HTML looks for the end of a script inside its texts and comments, too.
            let lower = line.to_ascii_lowercase();
            if ["<!--", "<script", "</script"].iter().any(|tag| lower.contains(tag)) {
                return refuse("HTML would take this for a tag");
            }
            let line = match line.split_once(|c: char| !c.is_ascii_alphabetic()) {
                Some(("import", _)) => {
                    let mut statement = line.to_owned();
                    while !statement.ends_with(';') {
                        let Some((_, more)) = lines.next() else {
                            return refuse("this import does not end");
                        };
                        statement = format!("{statement}{}", more.trim_start());
                    }
                    let Some((import, line)) = read_import(&statement, at) else {
                        return refuse("only `import { … } from \"./NAME.js\";` can be joined");
                    };
                    module.imports.push(import);
                    line
                }
                Some(("export", declaration)) => {
                    let Some(exported) = declared(declaration) else {
                        return refuse("only `export const`, `function` and `class` can be joined");
                    };
                    module.exports.push(exported.to_owned());
                    declaration.to_owned()
                }
                _ => line.to_owned(),
            };
            module.body += &line;
            module.body.push('\n');
        }
        module.body.truncate(module.body.trim_end().len());
        Ok(module)
    }
}

/// `import { a, b as c } from "./d.js";`, and what it becomes.
fn read_import(statement: &str, line: usize) -> Option<(Import, String)> {
    let (names, from) = statement.strip_prefix("import {")?.split_once("} from \"./")?;
    let from = from.strip_suffix("\";").filter(|from| from.ends_with(".js"))?;
    let (mut wanted, mut bound) = (Vec::new(), Vec::new());
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let (theirs, own) = name.split_once(" as ").unwrap_or((name, name));
        if !is_name(theirs) || !is_name(own) {
            return None;
        }
        wanted.push(theirs.to_owned());
        bound.push(if theirs == own { own.to_owned() } else { format!("{theirs}: {own}") });
    }
    let line_now = format!("const {{ {} }} = modules[\"{from}\"];", bound.join(", "));
    Some((Import { line, from: from.to_owned(), names: wanted }, line_now))
}

/// The name that a declaration gives to something that never changes.
fn declared(declaration: &str) -> Option<&str> {
    let kinds = ["const ", "function ", "async function ", "class "];
    let rest = kinds.iter().find_map(|kind| declaration.strip_prefix(kind))?;
    let end = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| is_name(name))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules by their names and texts, the first of which is the entry.
    fn linked(modules: &[(&str, &str)]) -> Result<String, String> {
        let read = |name: &str| {
            let found = modules.iter().find(|(own, _)| *own == name);
            found.map(|(_, text)| (*text).to_owned()).ok_or(format!("there is no {name}"))
        };
        link(modules[0].0, &read)
    }

    #[test]
    fn each_module_is_a_function_after_those_it_imports_from() {
        let main = "import { b } from \"./b.js\";\nimport {\n  a,\n  c as d,\n} from \"./a.js\";\nb(a, d);\n";
        let b =
            "// Of b.\nimport { c } from \"./a.js\";\n\nexport function b() {\n  return c;\n}\n";
        let a = "const own = 1;\nexport const a = own;\nexport class c {}\nexport async function $_1() {}\n";
        let script = linked(&[("main.js", main), ("a.js", a), ("b.js", b)]).unwrap();
        let expected = "\nconst modules = {};

modules[\"a.js\"] = (() => {
const own = 1;
const a = own;
class c {}
async function $_1() {}
return { a, c, $_1 };
})();

modules[\"b.js\"] = (() => {
// Of b.
const { c } = modules[\"a.js\"];

function b() {
  return c;
}
return { b };
})();

modules[\"main.js\"] = (() => {
const { b } = modules[\"b.js\"];
const { a, c: d } = modules[\"a.js\"];
b(a, d);
return {  };
})();
";
        assert!(script.ends_with(expected), "{script}");
    }

    #[test]
    fn what_cannot_be_joined_is_refused() {
        for (text, problem) in [
            ("import * as a from \"./a.js\";", "m.js:1: only `import {"),
            ("import a from \"./a.js\";", "m.js:1: only `import {"),
            ("import { a } from \"a\";", "m.js:1: only `import {"),
            ("import \"./a.js\";", "m.js:1: only `import {"),
            ("import(\"./a.js\");", "m.js:1: only `import {"),
            ("\nimport { a }\n", "m.js:2: this import does not end"),
            ("let a;\nexport { a };", "m.js:2: only `export const`"),
            ("export default 1;", "m.js:1: only `export const`"),
            ("export let a = 1;", "m.js:1: only `export const`"),
            ("export const { a } = {};", "m.js:1: only `export const`"),
            ("export * from \"./a.js\";", "m.js:1: only `export const`"),
            ("import { b } from \"./a.js\";", "m.js:1: a.js does not export b"),
            ("import { a } from \"./absent.js\";", "there is no absent.js"),
            ("import { a } from \"./m.js\";", "m.js → m.js is a circle"),
            ("import { d } from \"./c.js\";", "m.js → c.js → m.js is a circle"),
            ("const end = \"</SCRIPT>\";", "m.js:1: HTML would take this for a tag"),
            ("// <!-- ", "m.js:1: HTML would take this for a tag"),
        ] {
            let c = "import { x } from \"./m.js\";\nexport const d = x;";
            let modules = [("m.js", text), ("a.js", "export const a = 1;"), ("c.js", c)];
            let error = linked(&modules).unwrap_err();
            assert!(error.starts_with(problem), "{text}: {error}");
        }
    }

    #[test]
    fn words_that_begin_alike_are_no_statements() {
        let text = "exported();\nimportant();\n  import_();\n";
        assert!(linked(&[("m.js", text)]).unwrap().contains(text.trim_end()));
    }
}
