// Text of the corpus on the page: only ever set as text, never as markup, with
// nothing in it that hides or that changes the order of what is shown.

export const byID = (id) => document.getElementById(id);

// make builds an element: attributes, then children. A string becomes shown text.
export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  for (const child of children) element.append(...(typeof child === "string" ? shown(child) : [child]));
  return element;
}

// put replaces what an element shows.
export function put(element, ...children) {
  element.replaceChildren(...children.flatMap((child) => (typeof child === "string" ? shown(child) : [child])));
}

// Control characters, separators of lines and paragraphs, and format characters
// (bidirectional overrides, invisible ones) are shown as escapes. Line feeds,
// tabs and the zero-width joiners, which scripts and emoji need, stay.
const odd = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function escaped(character) {
  const code = character.codePointAt(0), hex = code.toString(16);
  if (code < 0x100) return "\\x" + hex.padStart(2, "0");
  return code > 0xffff ? "\\U" + hex.padStart(8, "0") : "\\u" + hex.padStart(4, "0");
}

// shown is text as nodes. A line that ends in CR LF ends, as with LF.
function shown(raw) {
  const text = raw.replaceAll("\r\n", "\n"), nodes = [];
  let from = 0;
  for (const match of text.matchAll(odd)) {
    if (match.index > from) nodes.push(document.createTextNode(text.slice(from, match.index)));
    const mark = document.createElement("span");
    mark.className = "odd";
    mark.textContent = escaped(match[0]);
    nodes.push(mark);
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}

// plain is text for places that hold no elements: a title, a status.
export const plain = (text) => text.replace(odd, escaped);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// Paper is a stretch of a document. The server counts bytes, the page UTF-16
// units: so text is kept as bytes, and cut there.
export class Paper {
  constructor(text, start, evidence) {
    this.bytes = encoder.encode(text);
    this.start = start;
    this.end = start + this.bytes.length;
    this.evidence = evidence;
  }

  // nodes is bytes [from, to) of the document as nodes, evidence marked.
  nodes(from, to) {
    from = Math.max(from, this.start);
    to = Math.min(to, this.end);
    const nodes = [];
    for (const [start, end] of this.evidence) {
      const left = Math.max(start, from), right = Math.min(end, to);
      if (left >= right) continue;
      nodes.push(...this.#cut(from, left), make("mark", {}, ...this.#cut(left, right)));
      from = right;
    }
    nodes.push(...this.#cut(from, to));
    return nodes;
  }

  #cut(from, to) {
    return from < to ? shown(decoder.decode(this.bytes.subarray(from - this.start, to - this.start))) : [];
  }
}
