"use client";
/** Switches every time on the page between UTC and the person's own zone. */
import { Clock } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button } from "#components/ui/button.tsx";
import { zoneName } from "#components/ui/format.ts";
import { setZone, useOwnZone, useZone } from "#components/ui/zone.tsx";

const never = () => () => {};

/** Shows the zone in force; UTC until a person chooses otherwise. */
export function ZoneToggle() {
  const zone = useZone();
  const own = useOwnZone();
  const local = useSyncExternalStore(
    never,
    () => zoneName(own, new Date().toISOString()),
    () => "local",
  );
  const isUtc = zone.startsWith("utc");
  const shown = isUtc ? "UTC" : local;
  return (
    <Button
      variant="quiet"
      label={`Times are in ${shown}. Change to ${isUtc ? local : "UTC"}`}
      onClick={() => setZone(isUtc ? "local" : "utc")}
    >
      <Clock aria-hidden="true" className="size-3.5" />
      {shown}
    </Button>
  );
}
