/* Colours for Python that is only read. Built into ../assets/highlight.js by `make editor`, with the editor's own parser. */
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/python";

/* Returns the lines of a text, each as a list of [piece, names of classes]. */
window.gym.highlight = (text) => {
  const lines = [[]];
  highlightCode(text, parser.parse(text), classHighlighter, (piece, names) => lines.at(-1).push([piece, names]), () => lines.push([]));
  return lines;
};
