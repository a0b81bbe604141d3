/* The code editor of the exercise page: CodeMirror with the settings that Python beginners need.
   Built into ../assets/codemirror.js by `make editor`; the page's own logic is in ../assets/editor.js. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore, insertNewlineAndIndent } from "@codemirror/commands";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, setDiagnostics, setDiagnosticsEffect } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, StateField } from "@codemirror/state";
import {
  crosshairCursor, Decoration, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter,
  highlightSpecialChars, keymap, lineNumbers, rectangularSelection, ViewPlugin,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import names from "./names.json";

const UNIT = 4;
const LABEL = "Your code. Press Escape, then Tab, to leave the editor.";

/* ---- keys ---- */
const indent = (view) => {
  const range = view.state.selection.main;
  if (!range.empty) return indentMore(view);
  const column = range.from - view.state.doc.lineAt(range.from).from;
  view.dispatch(view.state.update(view.state.replaceSelection(" ".repeat(UNIT - (column % UNIT))), { scrollIntoView: true, userEvent: "input" }));
  return true;
};

/* After a line that leaves its block, the next one stands one level further out. */
const LEAVES = /^\s*(return|pass|break|continue|raise)\b/;
const newline = (view) => {
  const range = view.state.selection.main;
  const line = view.state.doc.lineAt(range.from);
  const before = line.text.slice(0, range.from - line.from);
  if (!LEAVES.test(before) || /[([{,\\]\s*$/.test(before)) return insertNewlineAndIndent(view);
  const depth = Math.max(/^ */.exec(before)[0].length - UNIT, 0);
  view.dispatch(view.state.update(view.state.replaceSelection("\n" + " ".repeat(depth)), { scrollIntoView: true, userEvent: "input" }));
  return true;
};

/* ---- completion: Python's own and local names come with the language; these are torch's ---- */
const offered = (list, type) => list.map((label) => ({ label, type }));
const modules = { torch: names.torch, nn: names.nn, "torch.nn": names.nn, F: names.functional, "nn.functional": names.functional, "torch.nn.functional": names.functional };
const members = Object.fromEntries(Object.entries(modules).map(([name, list]) => [name, offered(list, "function")]));
const methods = offered(names.tensor, "method");
const imported = ["import torch", "from torch import nn", "import torch.nn.functional as F"].map((label) => ({ label, type: "keyword" }));

const torchMembers = (context) => {
  const path = context.matchBefore(/[\w.]*\.\w*/);
  if (!path) return null;
  const dot = path.text.lastIndexOf(".");
  return { from: path.from + dot + 1, options: members[path.text.slice(0, dot)] || methods, validFor: /^\w*$/ };
};
const imports = (context) => {
  const typed = context.matchBefore(/^(im|fr)[\w. ]*/);
  return typed && { from: typed.from, options: imported, validFor: /^[\w. ]*$/ };
};

/* ---- messages on lines: a mark in the margin, a coloured line, the text on hover; gone once the line is edited ---- */
const coloured = (state) => {
  const lines = new Set();
  forEachDiagnostic(state, (one, from) => lines.add(state.doc.lineAt(from).from));
  return Decoration.set([...lines].sort((one, other) => one - other).map((from) => Decoration.line({ class: "gym-marked-line" }).range(from)));
};
const markedLines = StateField.define({
  create: () => Decoration.none,
  update: (lines, change) => (change.docChanged || change.effects.some((effect) => effect.is(setDiagnosticsEffect)) ? coloured(change.state) : lines),
  provide: (field) => EditorView.decorations.from(field),
});

const dropEdited = EditorView.updateListener.of((update) => {
  if (!update.docChanged) return;
  const kept = [];
  let dropped = false;
  forEachDiagnostic(update.state, (one, from, to) => {
    const edited = update.changes.desc.invertedDesc.touchesRange(update.state.doc.lineAt(from).from, to);
    if (edited) dropped = true;
    else kept.push({ ...one, from, to });
  });
  if (dropped) update.view.dispatch(setDiagnostics(update.state, kept));
});

/* ---- long lines go on in the next row, further in than they begin ---- */
const FURTHER = UNIT, FURTHEST = 16; // columns
const goingOn = (view) => {
  const marks = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at), columns = Math.min(/^ */.exec(line.text)[0].length + FURTHER, FURTHEST);
      marks.push(Decoration.line({ attributes: { style: `--further: ${columns}ch` } }).range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(marks, true);
};
const wrapped = ViewPlugin.define((view) => ({
  decorations: goingOn(view),
  update(change) { if (change.docChanged || change.viewportChanged) this.decorations = goingOn(change.view); },
}), { decorations: (plugin) => plugin.decorations });

const extensions = (changed) => [
  lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
  EditorState.allowMultipleSelections.of(true), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(),
  rectangularSelection(), crosshairCursor(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true }),
  EditorState.tabSize.of(UNIT), indentUnit.of(" ".repeat(UNIT)), python(), syntaxHighlighting(classHighlighter),
  pythonLanguage.data.of({ autocomplete: torchMembers }), pythonLanguage.data.of({ autocomplete: imports }),
  lintGutter(), markedLines, dropEdited, EditorView.lineWrapping, wrapped,
  keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, { key: "Tab", run: indent, shift: indentLess }, { key: "Enter", run: newline }, ...historyKeymap, ...defaultKeymap]),
  EditorView.contentAttributes.of({ "aria-label": LABEL, tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
  EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
];

/* Puts an editor into `parent`; `changed` is called after each change of its text. */
window.gym.createEditor = (parent, changed) => {
  const view = new EditorView({ parent, extensions: extensions(changed) });
  const line = (number) => view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
  /* Scrolls within the editor only: the page stays where its reader is. */
  const show = (place) => {
    const { top, bottom } = view.lineBlockAt(Math.min(place, view.state.doc.length)), room = view.scrollDOM;
    if (top < room.scrollTop || bottom > room.scrollTop + room.clientHeight) room.scrollTop = top - room.clientHeight / 2;
  };
  return {
    text: () => view.state.doc.toString(),
    write: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } }),
    /* Puts the cursor behind so many characters, and the keyboard into the editor. */
    place: (offset) => {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    line: (number) => (number <= view.state.doc.lines ? line(number).text : null),
    select: (number) => {
      const { from, to } = line(number);
      view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    /* Marks lines: a list of {line, message, severity}; an empty one removes all marks. */
    mark: (marks) => {
      const found = marks.map((one) => {
        const { from, to, text } = line(one.line);
        return { from: Math.min(from + /^\s*/.exec(text)[0].length, to), to, severity: one.severity, message: one.message };
      });
      view.dispatch(setDiagnostics(view.state, found));
      if (found.length) requestAnimationFrame(() => show(found[0].from));
    },
  };
};
