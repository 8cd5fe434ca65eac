/** Tells a person what goes on. Standard error only: standard output belongs to the results. */
export function progress(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}
