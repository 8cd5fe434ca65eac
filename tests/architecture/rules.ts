/** The rules beside the import table: where SQL, the environment, clocks and chance may stand, and how long things get. */
import ts from "typescript";
import { roomOf } from "./rooms.ts";
import { type Finding, lineOf, parse, type SourceFile, walk } from "./tree.ts";

export const MOST_FUNCTION_LINES = 69;
export const MOST_FILE_LINES = 399;
export const MOST_ROUTE_LINES = 39;

const TEST_FILE = /\.(test|spec)\.tsx?$/;
const CONFIG_FILE = /(^|[-./])config\.m?ts$/;
const SQL_ROOMS = new Set(["db", "prisma"]);
const SQL_FILE_ROOMS = new Set(["demo", "bench", "tests", "chaos", "sim"]);

/** The start of a statement, in one case throughout: "Select a tenant" is a sentence. */
const STATEMENT = [
  "SELECT\\s[\\s\\S]*\\sFROM\\s",
  "SELECT\\s+(pg_|set_config|current_setting|count|now|clock_timestamp|\\$1|1\\b|\\*)",
  "WITH\\s+(RECURSIVE\\s+)?\\w+\\s*(\\([^)]*\\)\\s*)?AS\\s",
  "INSERT\\s+INTO\\s",
  "UPDATE\\s+\\S+\\s+(AS\\s+\\w+\\s+)?SET\\s",
  "DELETE\\s+FROM\\s",
  "TRUNCATE\\s+(TABLE\\s|\\w+\\.\\w)",
  "(CREATE|ALTER|DROP)\\s+(TABLE|DATABASE|INDEX|SCHEMA|FUNCTION|VIEW|TYPE|ROLE)\\s",
  "(LISTEN|NOTIFY)\\s+\\w+$",
].join("|");
const SQL_UPPER = new RegExp(`^\\s*(--[^\\n]*\\n\\s*)*(${STATEMENT})`);
const SQL_LOWER = new RegExp(
  `^\\s*(--[^\\n]*\\n\\s*)*(${STATEMENT.replaceAll(/(?<!\\)[A-Z]+/g, (word) => word.toLowerCase())})`,
);

/** What domain must not touch: moments, chance, the environment and the outside. */
const IMPURE_NAMES = new Set([
  "performance",
  "process",
  "globalThis",
  "fetch",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
]);
const IMPURE_MEMBERS = new Set(["Date.now", "Math.random"]);
/** From node:crypto by import, or as members of `crypto`; a parameter of such a name is what domain should have. */
const CHANCE = /^(random[A-Z]\w*|getRandomValues)$/;

/** True when a text starts like an SQL statement. */
export function looksLikeSql(text: string): boolean {
  return SQL_UPPER.test(text) || SQL_LOWER.test(text);
}

/** SQL stands in db, prisma, outbox/sql.ts, and in files named sql.ts of demo, bench and tests. Test files are free. */
export function checkSql(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => !maySpeakSql(file.path))
    .flatMap((file) => {
      const source = parse(file);
      const found: Finding[] = [];
      walk(source, (node) => {
        const text = literalText(node, source);
        if (text !== null && looksLikeSql(text)) {
          found.push({
            path: file.path,
            line: lineOf(source, node),
            message: "SQL outside the rooms where it lives",
          });
        }
      });
      return found;
    });
}

/** The environment is read in files named config.ts (or ending in it), and in scripts and tests. */
export function checkEnvironment(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => !mayReadEnvironment(file.path))
    .flatMap((file) => {
      const source = parse(file);
      const found: Finding[] = [];
      walk(source, (node) => {
        if (!isEnvironmentAccess(node)) return;
        found.push({
          path: file.path,
          line: lineOf(source, node),
          message: "process.env outside a config file",
        });
      });
      return found;
    });
}

/** domain knows neither time nor chance nor the world: all of it is passed in. */
export function checkPurity(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => roomOf(file.path) === "domain" && !TEST_FILE.test(file.path))
    .flatMap((file) => {
      const source = parse(file);
      const found: Finding[] = [];
      walk(source, (node) => {
        const name = impureName(node);
        if (name) found.push({ path: file.path, line: lineOf(source, node), message: `${name} in domain` });
      });
      return found;
    });
}

/** Functions, files and routes stay short enough to be read in one go. */
export function checkLengths(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const found: Finding[] = [];
    const lines = file.text.trimEnd().split("\n").length;
    const isRoute = /(^|\/)route\.ts$/.test(file.path);
    const most = isRoute ? MOST_ROUTE_LINES : MOST_FILE_LINES;
    if (lines > most)
      found.push({ path: file.path, line: 1, message: `${lines} lines, ${most} are allowed` });
    if (!TEST_FILE.test(file.path)) found.push(...longFunctions(file));
    return found;
  });
}

/** Every code of the catalogue has its place in the document. */
export function missingCodes(codes: readonly string[], document: string): string[] {
  const words = new Set(document.match(/[a-z0-9_]+/g));
  return codes.filter((code) => !words.has(code));
}

function longFunctions(file: SourceFile): Finding[] {
  const source = parse(file);
  const found: Finding[] = [];
  walk(source, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || !node.body) return;
    const first = lineOf(source, node);
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line + 1;
    const lines = last - first + 1;
    if (lines > MOST_FUNCTION_LINES) {
      found.push({
        path: file.path,
        line: first,
        message: `a function of ${lines} lines, ${MOST_FUNCTION_LINES} are allowed`,
      });
    }
  });
  return found;
}

function maySpeakSql(path: string): boolean {
  const room = roomOf(path);
  if (TEST_FILE.test(path) || path === "outbox/sql.ts") return true;
  if (room === null) return false;
  return SQL_ROOMS.has(room) || (SQL_FILE_ROOMS.has(room) && path.endsWith("/sql.ts"));
}

function mayReadEnvironment(path: string): boolean {
  const room = roomOf(path);
  return room === "scripts" || room === "tests" || CONFIG_FILE.test(path) || TEST_FILE.test(path);
}

function literalText(node: ts.Node, source: ts.SourceFile): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.getText(source).slice(1, -1);
  return null;
}

function isEnvironmentAccess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.name.text === "env" && ts.isIdentifier(node.expression) && node.expression.text === "process";
  }
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return false;
  if (!/^(node:)?process$/.test(node.moduleSpecifier.text)) return false;
  const bindings = node.importClause?.namedBindings;
  return Boolean(
    bindings &&
      ts.isNamedImports(bindings) &&
      bindings.elements.some((element) => (element.propertyName ?? element.name).text === "env"),
  );
}

function impureName(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const member = `${node.expression.text}.${node.name.text}`;
    const isChance = node.expression.text === "crypto" && CHANCE.test(node.name.text);
    return isChance || IMPURE_MEMBERS.has(member) ? member : null;
  }
  if (ts.isImportSpecifier(node)) {
    const name = (node.propertyName ?? node.name).text;
    return CHANCE.test(name) ? name : null;
  }
  if (ts.isNewExpression(node) && isNamed(node.expression, "Date") && !node.arguments?.length)
    return "new Date()";
  if (ts.isCallExpression(node) && isNamed(node.expression, "Date")) return "Date()";
  if (!ts.isIdentifier(node) || !IMPURE_NAMES.has(node.text) || isMereName(node)) return null;
  return node.text;
}

/** A property, parameter or type member that happens to have the name is not the global. */
function isMereName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node && parent.expression !== node;
  return "name" in parent && parent.name === node;
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}
