/** What a person or the product wrote, as a sentence that another one can follow. Pure. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
