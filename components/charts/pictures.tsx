"use client";
/** Every picture behind one door, so that the chart library is loaded once and only where a picture is shown. */
import type { ComponentType } from "react";
import { useZone } from "#components/ui/zone.tsx";
import type { Series } from "#db/console/read-series.ts";
import { DuePicture, FirstAttemptPicture, ServicePicture } from "./age-pictures.tsx";
import type { ChartKind } from "./chart-data.ts";
import type { PictureProps } from "./chart-parts.tsx";
import type { ChartScale } from "./chart-scale.ts";
import { DeadPicture, EndsPicture, OutcomesPicture } from "./count-pictures.tsx";

const PICTURES: Readonly<Record<ChartKind, ComponentType<PictureProps>>> = {
  "first-attempt": FirstAttemptPicture,
  due: DuePicture,
  outcomes: OutcomesPicture,
  dead: DeadPicture,
  ends: EndsPicture,
  service: ServicePicture,
};

export interface PicturesProps {
  kind: ChartKind;
  series: Series;
  scale: ChartScale;
  /** One sentence with the latest values, read aloud for the picture. */
  summary: string;
}

export default function Pictures({ kind, series, scale, summary }: PicturesProps) {
  const zone = useZone();
  const Picture = PICTURES[kind];
  return (
    <section aria-label={summary}>
      <Picture series={series} scale={scale} zone={zone} />
    </section>
  );
}
