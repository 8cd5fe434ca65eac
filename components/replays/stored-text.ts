/** Texts that the product has stored of a batch, as one string for places that take no markup: titles, banners, readers. Pure. */
import { actorWords } from "#components/ui/actor-words.ts";
import { formatInstant, type Zone, zoneName } from "#components/ui/format.ts";
import { type WordPart, wordParts } from "#domain/replay-words.ts";

/** Moments in the given zone with its name, people by their address, destinations by the end of their id. */
export function storedText(text: string, zone: Zone): string {
  return wordParts(text)
    .map((part) => partText(part, zone))
    .join("");
}

function partText({ kind, text }: WordPart, zone: Zone): string {
  if (kind === "time") return `${formatInstant(text, zone)} ${zoneName(zone, text)}`;
  if (kind === "actor") return actorWords(text);
  return kind === "destination" ? destinationEnd(text) : text;
}

/** What a destination is called that has no name here. */
export function destinationEnd(id: string): string {
  return `…${id.slice(-6)}`;
}
