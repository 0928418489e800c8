// Colours of the theme, of kinds and of amounts.

/** Colours that drawing on a canvas needs, as the theme has them now. */
const theme = { dark: false };

function readTheme() {
  const probe = document.body.appendChild(document.createElement("i"));
  const color = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  for (const name of ["sheet", "sunk", "ink", "soft", "line", "edge", "accent", "ring"]) theme[name] = color(name);
  probe.remove();
  theme.dark = isDark();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const rgb = (code) => [code >> 16, (code >> 8) & 255, code & 255];
const css = ([r, g, b], opacity = 1) => `rgb(${r} ${g} ${b} / ${opacity})`;
const mix = (a, b, t) => a.map((from, i) => Math.round(from + t * (b[i] - from)));

/** Colours and shapes: seven of each shape, which stay apart to every eye. */
class Palette {
  constructor(kinds, amounts) {
    this.kinds = kinds.map(rgb);
    this.amounts = amounts.map(rgb);
  }

  /** The colour of a kind; on dark ground a little lighter, and the neutral one light. */
  kind(index) {
    const at = index % this.kinds.length;
    if (!theme.dark) return this.kinds[at];
    return at === this.kinds.length - 1 ? [205, 205, 205] : mix(this.kinds[at], [255, 255, 255], 0.22);
  }

  get neutral() {
    return theme.dark ? [130, 137, 145] : [150, 152, 155];
  }

  /** The colour of an amount between 0 and 1: much stands out, little is near the ground. */
  amount(share) {
    const [from, to] = theme.dark ? [0.16, 1] : [0.9, 0];
    const at = (from + (to - from) * Math.min(1, Math.max(0, share))) * (this.amounts.length - 1);
    const low = Math.min(Math.floor(at), this.amounts.length - 2);
    return mix(this.amounts[low], this.amounts[low + 1], at - low);
  }
}

/** Disc, square, triangle, diamond. */
const SHAPES = 4;

/** Adds a mark around a point to a path. */
function traceShape(path, shape, x, y, r) {
  if (shape === 1) path.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else if (shape === 2) {
    path.moveTo(x, y - 1.2 * r);
    path.lineTo(x + 1.1 * r, y + 0.8 * r);
    path.lineTo(x - 1.1 * r, y + 0.8 * r);
    path.closePath();
  } else if (shape === 3) {
    path.moveTo(x, y - 1.25 * r);
    path.lineTo(x + 1.25 * r, y);
    path.lineTo(x, y + 1.25 * r);
    path.lineTo(x - 1.25 * r, y);
    path.closePath();
  } else {
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  }
}

/** The same mark for a legend. */
function shapeIcon(shape, color) {
  const marks = [
    () => make("circle", { cx: 6.5, cy: 6.5, r: 5 }),
    () => make("rect", { x: 2, y: 2, width: 9, height: 9 }),
    () => make("polygon", { points: "6.5,0.800 12,11 1,11" }),
    () => make("polygon", { points: "6.5,0 13,6.500 6.500,13 0,6.500" }),
  ];
  const icon = make("svg", { viewBox: "0 0 13 13", "aria-hidden": "true" }, marks[shape]());
  icon.style.color = css(color);
  return icon;
}
