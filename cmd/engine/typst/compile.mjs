// This program compiles the project from stdin and writes the PDF to stdout. The compiler is WebAssembly without a file
// system, a network and packages. The compiler can read only the files from stdin.
//
// stdin is a sequence of files. Each file has the lengths of its name and of its content as little-endian uint32, then
// the name and the content. A file without a name ends the sequence. On failure, stderr has one line of JSON, {"error":
// …, "memory": …}, and the exit code is 1.
import { closeSync, readFileSync, readSync, writeSync } from "node:fs";

// If describe is set, the program writes descriptions of the fonts to stdout instead of a PDF. The input of each
// document contains these descriptions in the file fonts.json.
const { compiler: compilerDir, formulas: converterPath, fonts, describe, maxInput } = JSON.parse(process.argv[1]);

function fail(message, memory = false) {
  writeSync(2, JSON.stringify({ error: String(message).slice(0, 2000), memory }) + "\n");
  process.exit(1);
}

process.on("uncaughtException", (e) => fail(e?.message ?? e, e instanceof WebAssembly.RuntimeError || e instanceof RangeError));

const stdin = (() => {
  let total = 0;
  return (length) => {
    if ((total += length) > maxInput) fail("the input is too large");
    const into = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const n = readSync(0, into, at, length - at);
      if (n === 0) fail("the input ended early");
      at += n;
    }
    return into;
  };
})();

function* files() {
  for (;;) {
    const header = new DataView(stdin(8).buffer);
    const name = new TextDecoder().decode(stdin(header.getUint32(0, true)));
    if (name === "") return;
    yield { name, content: stdin(header.getUint32(4, true)) };
  }
}

const glue = await import("file://" + compilerDir + "/pkg/typst_ts_web_compiler.mjs");
glue.initSync({ module: new WebAssembly.Module(readFileSync(compilerDir + "/pkg/typst_ts_web_compiler_bg.wasm")) });

function write(bytes) {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(1, bytes, at, Math.min(1 << 16, bytes.length - at));
  }
  closeSync(1);
  process.exit(0);
}

const read = (path) => new Uint8Array(readFileSync(path));
const resolver = new glue.TypstFontResolverBuilder();
if (describe) {
  write(new TextEncoder().encode(JSON.stringify(fonts.map((path) => resolver.get_font_info(read(path))))));
}

const builder = new glue.TypstCompilerBuilder();
builder.set_dummy_access_model();
const compiler = await builder.build();

// An image that the compiler cannot read would fail the whole document. So the program first compiles each image alone.
const images = [];
let formulas = [];
for (const { name, content } of files()) {
  if (name === "formulas.json") {
    formulas = JSON.parse(new TextDecoder().decode(content));
    continue;
  }
  if (name === "fonts.json") {
    // A font is loaded into memory only if the text needs it.
    const descriptions = JSON.parse(new TextDecoder().decode(content));
    fonts.forEach((path, i) => resolver.add_lazy_font(descriptions[i], () => read(path)));
    compiler.set_fonts(await resolver.build());
    continue;
  }
  compiler.map_shadow("/" + name, content);
  if (name.startsWith("images/")) images.push(name);
}
const readable = [];
for (const name of images) {
  compiler.add_source("/try.typ", `#set page(width: 10pt, height: 10pt)\n#image("/${name}", width: 5pt)`);
  try {
    if (compiler.compile("/try.typ", null, "pdf", 1)?.result) readable.push(name);
  } catch {}
}
compiler.map_shadow("/readable.json", new TextEncoder().encode(JSON.stringify(readable)));

// A formula that the compiler cannot read would fail the document, too. draws reports whether the compiler can read all
// formulas of a list.
const draws = (list) => {
  compiler.map_shadow("/try.json", new TextEncoder().encode(JSON.stringify(list)));
  compiler.add_source("/try.typ", `#show math.equation: set text(font: "Noto Sans Math")
#for m in json("/try.json") { math.equation(block: true, eval(m, mode: "math", scope: (std: none))) }`);
  try {
    return Boolean(compiler.compile("/try.typ", null, "pdf", 1)?.result);
  } catch (e) {
    if (e instanceof WebAssembly.RuntimeError) throw e;
    return false;
  }
};
const typesetFormulas = formulas.length === 0 ? [] : typeset(formulas, await import("file://" + converterPath), limited, draws);
compiler.map_shadow("/typeset.json", new TextEncoder().encode(JSON.stringify(typesetFormulas)));

let made;
try {
  made = compiler.compile("/main.typ", null, "pdf", 1);
} catch (e) {
  // If the compiler gets no more memory, it ends with a trap.
  fail(typeof e === "string" ? e : e?.message ?? e, e instanceof WebAssembly.RuntimeError);
}
if (!made?.result) fail("the compiler gave no result");
write(made.result);
