// What the page unpacks, and what its modules hand to each other. `Head` and `Arrays` are what
// page.rs packs, `Sketch` is what sketch.rs writes, `Elements` are those of page.html: the tests
// hold all three to it.

import type { Page } from "./page.js";

declare global {
  interface Window {
    /** For whoever looks at the page from the console, and for its tests. */
    page: Page;
  }
}

// The pack.

export interface Pack {
  head: Head;
  arrays: Arrays;
}

export interface Head {
  title: string;
  version: string;
  /** Whether a server answers `POST search` beside the page. */
  live: boolean;
  /** How many graphs there are, and how many of them are on this page. */
  graphs: number;
  shown: number;
  /** Numbers a vector; 0 without vectors. */
  dim: number;
  notes: string[];
  /** How distances are measured, in words. */
  metric: string;
  /** Colours as 0xRRGGBB: of kinds, and of amounts from little to much. */
  kindColors: number[];
  amountColors: number[];
  /** The names of the graphs that are shown. */
  ids: string[];
  /** Methods by which there are places: the array "place N" is that of the Nth. */
  projections: string[];
  /** What points can be coloured by: the array "attribute N" has the values of the Nth. */
  attributes: { name: string; kinds?: string[] }[];
  /** The amount of a graph that has none. */
  missing: number;
  /** Neighbours that each graph has room for in the array "neighbors", and what stands in an empty one. */
  neighborsEach: number;
  nobody: number;
  /** Id and label of neighbours that are not shown; they are numbered after those that are. */
  absent: [string, string | null][];
  nodeColors: NodeColors;
  /** The atoms that molecules are made of, each once; none where graphs are no molecules. */
  atoms: Atom[];
  /** Whether attributes of nodes say where they are. */
  hasCoordinates: boolean;
  config: Config | null;
  run: RunNote | null;
  log: LogLine[];
  summary: Summary | null;
  evaluation: Evaluation | null;
  /** Kind, first byte and number of bytes of each array. */
  arrays: Record<string, ["u8" | "u32" | "f32", number, number]>;
}

export interface Arrays {
  /** x and y of each graph, between −1 and 1. */
  [place: `place ${number}`]: Float32Array;
  /** A place among the attribute's kinds, or an amount. */
  [attribute: `attribute ${number}`]: Uint32Array | Float32Array;
  /** `neighborsEach` for each graph, nearest first. */
  neighbors: Uint32Array;
  distances: Float32Array;
  /** The bytes of graph i are from the ith start to the next. */
  "sketch starts": Uint32Array;
  sketches: Uint8Array;
}

/** An atom, with the hydrogens that are no nodes of their own; of isotope 0, the natural mixture. */
export type Atom = [symbol: string, hydrogens: number, charge: number, isotope: number];

/** What the colours of nodes say: an element, one of some labels, an attribute, or their degree. */
export type NodeColors =
  | { elements: { name: string; light: number; dark: number }[] }
  | { labels: string[]; other: number }
  | { attribute: string; from: number; to: number }
  | { degree: true };

// Records of the library, as far as the page looks at them.

/** Settings that are listed as they are. */
export type Settings = Record<string, unknown>;

export interface Config {
  hg2v: string;
  method: string;
  settings: Record<string, Settings>;
  seed: number | null;
  data: Settings & { graphs: number; nodes: number };
}

export interface RunNote {
  data: string | null;
  device: string;
  threads: number;
  training_seconds: number;
  whole_seconds: number;
}

export interface LogLine {
  epoch: number;
  step: number;
  lr?: number;
  loss: number;
  seconds: number;
  levels?: { positive: number; negative: number }[];
}

export interface Spread {
  mean: number;
  median: number;
  min: number;
  max: number;
}

export interface Vocabulary {
  distinct: number;
  [more: string]: unknown;
}

export interface Groups {
  groups: number;
  graphs: number;
  [more: string]: unknown;
}

export interface Summary {
  graphs: number;
  nodes: number;
  edges: number;
  nodes_per_graph: Spread | null;
  edges_per_graph: Spread | null;
  degree: Spread | null;
  mean_density: number | null;
  empty_graphs: number;
  edgeless_graphs: number;
  components: { total: number; max: number; disconnected_graphs: number };
  isolated_nodes: { nodes: number; graphs: number };
  attributes: { dim: number; graphs: number } | null;
  node_labels: Vocabulary | null;
  edge_labels: Vocabulary | null;
  edge_attributes: { dim: number; graphs: number } | null;
  weights: { graphs: number; min: number; max: number } | null;
  classes: Vocabulary | null;
  duplicates: Groups | null;
  wl_equivalent: Groups | null;
  features: { plan: string; [more: string]: unknown };
  findings: {
    self_loops: number;
    repeated_edges: number;
    parallel_edges: number;
    zero_weights: number;
    negative_weights: number;
    directed_graphs: number;
    [more: string]: unknown;
  };
  ignored: string[];
  [more: string]: unknown;
}

export interface Score {
  mean: number;
  std: number;
  n: number;
}

export interface Confusion {
  /** Places among the evaluation's classes. */
  classes: number[];
  /** Rows are true classes, columns what they were taken for. */
  counts: number[][];
}

export interface Judgement {
  name: string;
  result: {
    splits: { test: number; validation: number; [more: string]: unknown }[];
    test: Score;
    validation: Score;
    dim: number;
    also?: { classifier: string; test: Score; validation: Score; [more: string]: unknown }[];
    [more: string]: unknown;
  };
  confusion: Confusion | null;
}

export interface Evaluation {
  graphs: number;
  classes: (string | number | boolean)[];
  mode: string;
  splits: number;
  seed: number;
  majority: number | null;
  /** "classes" unless it says "numbers", whose test and validation are root mean square errors. */
  task?: string;
  /** Graphs that have what is predicted. */
  known?: number;
  mean?: { rmse: Score } | null;
  methods: Judgement[];
  [more: string]: unknown;
}

// Graphs as they are drawn.

export type Rgb = [number, number, number];
export type Point = [number, number];
export type Range = [from: number, to: number];

/** A graph, or what coarsening leaves of it. */
export interface Level {
  /** Nodes, and where they are. */
  n: number;
  x: Float64Array;
  y: Float64Array;
  /** Nodes of the graph that are pooled into each. */
  sizes: Float64Array;
  /** The ends of edges, two by two, and how many edges below each stands for, where that is known. */
  edges: Uint32Array;
  weights: Float64Array | null;
  degrees: Uint32Array;
  largestDegree: number;
  /** The super-node of each node; null of the last level. */
  parents: Uint32Array | null;
}

/** What a molecule has besides. */
export interface Molecule {
  /** The place of each node's atom among those of the page. */
  atoms: Uint32Array;
  /** With which lines each edge is drawn: see bond_lines.rs. */
  lines: Uint8Array;
}

export interface Sketch {
  /** How often the graph was coarsened before its first level. */
  base: number;
  /** Whether only the best-connected nodes are there. */
  cut: boolean;
  /** What the colour of each node of the first level says; null where that is its degree. */
  codes: Uint8Array | null;
  /** Atoms and bonds, where it is that of a molecule, drawn whole. */
  molecule: Molecule | null;
  /** Whether it is that of a graph that somebody put on the map. */
  isGuest: boolean;
  /** The graph first, then coarser and coarser. */
  levels: [Level, ...Level[]];
  /** Where the nodes of the first level are, and how long an edge is. */
  x: Range;
  y: Range;
  edgeLength: number;
  /** The colours of nodes that were computed already, by theme and level. */
  painted: Map<string, Rgb[]>;
}

/** A graph that somebody put on the map. */
export interface Guest {
  name: string;
  x: number;
  y: number;
  sketch: Sketch | null;
  neighbors: Neighbor[];
}

/** A graph of the page, or an absent one, and how far it is where that is known. */
export interface Neighbor {
  graph: number;
  distance?: number;
}

// Graphs as points of the map.

export interface KindAttribute {
  name: string;
  kinds: string[];
  of: Uint32Array;
}

export interface AmountAttribute {
  name: string;
  kinds: null;
  of: Float32Array;
  from: number;
  to: number;
}

export type Attribute = KindAttribute | AmountAttribute;

export interface View {
  scale: number;
  x: number;
  y: number;
}

export type Tool = "move" | "lasso";

/** Who is told what happens on the map. */
export interface MapWatcher {
  pointed(index: number, at: Point | null, aloud: boolean): void;
  chosen(index: number): void;
  lassoed(graphs: Set<number> | null): void;
  welcomed(guest: Guest): void;
  tool(tool: Tool): void;
  painted(): void;
  neighbors(index: number): Neighbor[];
}

// Elements.

/** Attributes of a new element; a function is called for the event that its name says after "on". */
export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;
export type Child = Node | string | null | undefined;

/** The elements of page.html that have a name. */
export interface Elements {
  lede: HTMLParagraphElement;
  theme: HTMLButtonElement;
  failure: HTMLParagraphElement;
  "map-section": HTMLElement;
  color: HTMLSelectElement;
  "projection-field": HTMLLabelElement;
  projection: HTMLSelectElement;
  search: HTMLInputElement;
  matches: HTMLUListElement;
  lasso: HTMLButtonElement;
  minis: HTMLButtonElement;
  "zoom-in": HTMLButtonElement;
  "zoom-out": HTMLButtonElement;
  fit: HTMLButtonElement;
  stage: HTMLDivElement;
  map: HTMLCanvasElement;
  legend: HTMLDivElement;
  tip: HTMLDivElement;
  "tip-drawing": HTMLCanvasElement;
  "tip-words": HTMLParagraphElement;
  corner: HTMLParagraphElement;
  panel: HTMLElement;
  status: HTMLParagraphElement;
  live: HTMLDivElement;
  training: HTMLElement;
  loss: HTMLDivElement;
  facts: HTMLDivElement;
  accuracy: HTMLElement;
  scores: HTMLDivElement;
  run: HTMLElement;
  settings: HTMLDivElement;
  colophon: HTMLParagraphElement;
  pack: HTMLScriptElement;
}
