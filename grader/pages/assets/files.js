/* A file from disk: its text, a notebook's as the Python of its code cells; or what is wrong with it and what to do. */
(() => {
  "use strict";
  const gym = window.gym;
  const LIMIT = 256 * 1024; // bytes; the service has the last word
  const MARKS = { "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be" };
  const KINDS = { "%PDF": "a PDF", "PK\x03\x04": "a ZIP archive or an office document", "\x89PNG": "a picture", "\xff\xd8\xff": "a picture", "{\\rtf": "a document of a word processor" };
  const OTHER = /^\s*%%(bash|sh|html|javascript|js|latex|markdown|svg|writefile|script)\b/i;
  const PYTHON = "Choose the .py file with your code, or a .ipynb notebook.";
  const AGAIN = "Open it in Jupyter, save it and load it again; or copy the code of its cells into the editor.";

  const wrong = (text) => { throw new Error(text); };

  const cells = (name, text) => {
    let book = null;
    try { book = JSON.parse(text); } catch { wrong(`${name} is a notebook that is cut off or damaged. ${AGAIN}`); }
    if (!Array.isArray(book?.cells)) wrong(`${name} has no list of cells, as a notebook has. ${AGAIN}`);
    const sources = book.cells.map((cell) => (cell?.cell_type === "code" ? [cell.source ?? ""].flat().join("") : ""));
    const code = sources.flatMap((source, index) => (String(source).trim() && !OTHER.test(source) ? [`# Cell ${index + 1}\n${source.trimEnd()}\n`] : []));
    return code.length ? code.join("\n") : wrong(`${name} is a notebook without code in Python. Choose one that has your answer in a code cell.`);
  };

  /* Returns what to put into the editor; raises an error that says what to do. */
  gym.textOf = async (file) => {
    const name = file.name.slice(0, 80);
    if (file.size > LIMIT) wrong(`${name} has ${file.size} bytes; the limit is ${LIMIT}. Keep in it only the code of your answer.`);
    const bytes = new Uint8Array(await file.arrayBuffer().catch(() => wrong(`${name} could not be read. Choose it again.`)));
    const head = String.fromCharCode(...bytes.slice(0, 8)), kind = Object.keys(KINDS).find((start) => head.startsWith(start));
    if (kind) wrong(`${name} is ${KINDS[kind]}, not code. ${PYTHON}`);
    const coding = MARKS[head.slice(0, 2)] ?? "utf-8";
    if (coding === "utf-8" && bytes.includes(0)) wrong(`${name} is binary data, not text. ${PYTHON}`);
    let text = "";
    try { text = new TextDecoder(coding, { fatal: true }).decode(bytes).replace(/\r\n?/g, "\n"); } catch { wrong(`${name} is not text in UTF-8. If it is code, save it as UTF-8 and load it again.`); }
    if (!text.trim()) wrong(`${name} is empty. ${PYTHON}`);
    return /\.ipynb$/i.test(name) || (text.trimStart().startsWith("{") && text.includes('"cells"')) ? cells(name, text) : text;
  };
})();
