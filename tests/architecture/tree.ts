/** Reads the source tree and parses it with the TypeScript API. It knows nothing about the rules. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/** A file as the rules see it; a test may make one up. */
export interface SourceFile {
  /** Relative to the clone, with forward slashes. */
  path: string;
  text: string;
}

export interface ImportReference {
  /** A path relative to the clone, or the name of a package or built-in module. */
  target: string;
  /** True for a file of this clone. */
  isOwn: boolean;
  /** True when only types are taken. */
  typeOnly: boolean;
  /** As written. */
  specifier: string;
}

/** A broken rule: which file, which line, what is wrong. */
export interface Finding {
  path: string;
  line: number;
  message: string;
}

const SKIPPED = new Set([
  "node_modules",
  ".git",
  ".next",
  ".sluice",
  "generated",
  "test-results",
  "playwright-report",
]);
const SOURCE = /\.(ts|tsx|mts|mjs)$/;
const MOST_FILES = 5_000;

/** Every source file of the clone, generated code left out. */
export function readTree(root: string): SourceFile[] {
  const files: SourceFile[] = [];
  const visit = (directory: string) => {
    for (const entry of readdirSync(path.join(root, directory), { withFileTypes: true })) {
      const relative = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith(".")) visit(relative);
      else if (entry.isFile() && SOURCE.test(entry.name) && entry.name !== "next-env.d.ts") {
        files.push({ path: relative, text: readFileSync(path.join(root, relative), "utf8") });
      }
    }
  };
  visit("");
  if (files.length > MOST_FILES)
    throw new Error(`The tree has ${files.length} source files: something is generated.`);
  return files;
}

/** The syntax tree of a file, with parent links. */
export function parse(file: SourceFile): ts.SourceFile {
  const kind = file.path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kind);
}

/** Calls `visit` for every node of the file. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Line number of a node, from 1. */
export function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** Everything that a file imports, re-exports or loads later. */
export function importsOf(file: SourceFile): (ImportReference & { line: number })[] {
  const source = parse(file);
  const found: (ImportReference & { line: number })[] = [];
  walk(source, (node) => {
    const reference = readReference(node);
    if (reference)
      found.push({ ...resolve(file.path, reference.specifier), ...reference, line: lineOf(source, node) });
  });
  return found;
}

function readReference(node: ts.Node): { specifier: string; typeOnly: boolean } | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: takesOnlyTypes(node.importClause) };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    if (argument && ts.isStringLiteralLike(argument)) return { specifier: argument.text, typeOnly: false };
  }
  if (
    ts.isImportTypeNode(node) &&
    ts.isLiteralTypeNode(node.argument) &&
    ts.isStringLiteral(node.argument.literal)
  ) {
    return { specifier: node.argument.literal.text, typeOnly: true };
  }
  return null;
}

function takesOnlyTypes(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  if (clause.name || !bindings || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}

function resolve(from: string, specifier: string): { target: string; isOwn: boolean } {
  if (specifier.startsWith("#")) return { target: specifier.slice(1), isOwn: true };
  if (specifier.startsWith("."))
    return { target: path.posix.join(path.posix.dirname(from), specifier), isOwn: true };
  return { target: specifier, isOwn: false };
}
