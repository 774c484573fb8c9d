// This module turns TeX formulas into typst's mathematics. The converter writes text that typst evaluates, and does not
// quote all of its input: \text{"#f()"} becomes code. So the text is used only if `isMath` finds that it is only
// mathematics.

// most has the limits of formulas. The converter's time doubles with each level of some nestings.
const most = { formulas: 5000, tex: 2000, math: 8000, nested: 10, depth: 32, late: 20, milliseconds: 250, tries: 500 };

// macros maps macros that the converter does not know to macros that it knows.
const macros = { "\\stackrel": "\\overset", "\\lparen": "(", "\\rparen": ")" };

// These are the functions and names of typst's mathematics, without the symbols. They leave out `std`, which would give
// access to code.
const functions = `accent align arrow attach augment bb binom bold breve cal cancel caron cases ceil center check circle class delim
diaer display dot dots floor frac frak grave hat inline italic left limits lr macron mat mid mod mono none norm op overbrace
overbracket overline overparen primes right root round sans scr script scripts serif sqrt sscript stretch sub sup tilde true
underbrace underbracket underline underparen upright vec`.split(/\s+/);

const colors = "black|gray|silver|white|navy|blue|aqua|teal|eastern|purple|fuchsia|maroon|red|orange|yellow|olive|green|lime";

// These are the tokens of a formula. Code in a formula may have only a few forms. Each form is complete, so typst does
// not continue the code with the following text.
const token = new RegExp([
  String.raw`(?<text>"(?:[^"\\]|\\["\\])*")`,
  String.raw`(?<escape>\\(?:[^\sA-Za-z0-9]|(?=\s|$)))`,
  String.raw`(?<code>#(?:none|true|center|left|right|[0-9]{1,2}|h\(-?[0-9]{1,2}(?:\.[0-9]{1,3})?(?:em|pt|mm|cm)\)|\(vline: \([0-9, ]{1,60}\)\))(?![\p{L}\p{N}_.(\[]))`,
  String.raw`(?<open>#text\(fill: (?:${colors})\)\[\$)`,
  String.raw`(?<close>\$\])`,
  String.raw`(?<name>\p{XID_Start}(?:(?!_)\p{XID_Continue})+(?:\.[A-Za-z]+)*)`,
  String.raw`(?<bad>[#$"\\@√∛∜]|/[/*])`,
  String.raw`(?<any>[^])`,
].join("|"), "gu");

// isMath reports whether typst reads the text only as mathematics, and whether the nesting is limited.
function isMath(text, names) {
  if (text.length > most.math) return false;
  let depth = 0, colored = 0;
  for (const { groups, 0: all } of text.matchAll(token)) {
    if (groups.bad) return false;
    if (groups.name && !names.has(groups.name.split(".")[0])) return false;
    if (groups.open) depth++, colored++;
    if (groups.close && (depth--, --colored < 0)) return false;
    if (groups.any && /[\p{Ps}\p{Pi}]/u.test(all) && ++depth > most.depth) return false;
    if (groups.any && /[\p{Pe}\p{Pf}]/u.test(all)) depth = Math.max(0, depth - 1);
    if (depth > most.depth) return false;
  }
  return colored === 0;
}

// nesting returns the depth to which the braces, brackets, delimiters and environments of a formula are nested.
function nesting(tex) {
  let depth = 0, deepest = 0;
  for (const [sign] of tex.matchAll(/\\left(?![a-z])|\\right(?![a-z])|\\begin|\\end|\\[^a-z]|[{}\[\]]/g)) {
    if (/^(\\left|\\begin|\{|\[)$/.test(sign)) deepest = Math.max(deepest, ++depth);
    else if (!/^\\[^a-z]/.test(sign)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

// typeset returns each formula as mathematics, or null for a formula that is shown as TeX. limited runs a function for
// a bounded time. draws reports whether the compiler can show its input.
export function typeset(formulas, { tex2typst, symbolMap }, limited, draws) {
  const names = new Set([...functions, ...[...symbolMap.values()].map((v) => v.split(".")[0]).filter((v) => /^[a-zA-Z]+$/.test(v))]);
  names.delete("std");
  let late = 0;
  const convert = (tex) => {
    if (typeof tex !== "string" || tex.length > most.tex || nesting(tex) > most.nested || late >= most.late) return null;
    // A comment would hide the following text. A straight quotation mark would end a text.
    const plain = tex.replace(/(?<!\\)%.*$/gm, "").replaceAll('"', "”");
    try {
      const options = { nonStrict: false, preferShorthands: false, fracToSlash: true, customTexMacros: macros };
      const math = limited(() => tex2typst(plain, options), most.milliseconds);
      return math.trim() !== "" && isMath(math, names) ? math : null;
    } catch (e) {
      if (e?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") late++;
      return null;
    }
  };
  const made = formulas.map((tex, i) => (i < most.formulas ? convert(tex) : null));
  // The compiler stops at the first formula that it refuses. So formulas are tried together, and one by one only if
  // some fail.
  let tries = 0;
  const sift = (from, to) => {
    const some = made.slice(from, to).filter((m) => m !== null);
    if (some.length === 0 || (++tries <= most.tries && draws(some))) return;
    if (to - from === 1 || tries > most.tries) made.fill(null, from, to);
    else {
      const middle = (from + to) >> 1;
      sift(from, middle);
      sift(middle, to);
    }
  };
  for (let at = 0; at < made.length; at += 64) sift(at, Math.min(made.length, at + 64));
  return made;
}
