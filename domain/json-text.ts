/**
 * Indents JSON text without reading it into values: a number of twenty digits keeps all of them, a 1.0 stays 1.0, and
 * two members of one name stay two. Text that is no JSON comes back as it was. It never evaluates anything.
 */

/** Longest text that is indented; a longer one is shown as it came. */
export const MAX_INDENT_CHARS = 512 * 1024;
/** Deepest nesting that is indented. */
const MAX_DEPTH = 200;
const STEP = "  ";
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|\s+/gy;

/** Pretty text, or the given one when it is no JSON, too long or too deep. */
export function indentJson(text: string): string {
  if (text.length > MAX_INDENT_CHARS || !isJson(text)) return text;
  const tokens = (text.match(TOKEN) ?? []).filter((token) => token.trim() !== "");
  let out = "";
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === "{" || token === "[") {
      depth += 1;
      if (depth > MAX_DEPTH) return text;
      // An empty one stays on its line.
      out += next === "}" || next === "]" ? token : `${token}\n${STEP.repeat(depth)}`;
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const before = tokens[index - 1];
      out += before === "{" || before === "[" ? token : `\n${STEP.repeat(depth)}${token}`;
    } else if (token === ",") out += `,\n${STEP.repeat(depth)}`;
    else if (token === ":") out += ": ";
    else out += token;
  }
  return out;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
