/** Depths and rates of a region that judge nothing by themselves: what is ready, delayed, delivered, and the amplification. */
import Link from "next/link";
import type { ReactNode } from "react";
import { formatRatio } from "#components/charts/chart-data.ts";
import { formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import type { TilesProps } from "./region-tiles.tsx";

export function RegionLine({ region, data, overview }: TilesProps) {
  const amplified = (data.amplification ?? 0) > overview.amplificationAlert;
  return (
    <dl className="mt-auto flex flex-wrap gap-x-5 gap-y-1 border-line border-t px-4 py-2 text-table">
      <Fact name="Ready" testId="ready">
        <Rows region={region} state="ready" count={data.ready} />
      </Fact>
      <Fact name="Delayed" testId="delayed">
        <Rows region={region} state="delayed" count={data.delayed} />
      </Fact>
      <Fact name="Delivered, 1 h" testId="completed">
        <Rows region={region} state="delivered" count={data.recent.deliveredLastHour} />
      </Fact>
      <Fact name="Amplification, 15 m" testId="amplification">
        {amplified ? (
          <StatusText
            tone="danger"
            label={`${formatRatio(data.amplification)}, alert above ${overview.amplificationAlert}`}
          />
        ) : (
          formatRatio(data.amplification)
        )}
      </Fact>
    </dl>
  );
}

function Fact({ name, testId, children }: { name: string; testId: string; children: ReactNode }) {
  return (
    <div data-testid={testId} className="flex gap-1.5">
      <dt className="text-faint">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}

function Rows({ region, state, count }: { region: string; state: string; count: number }) {
  return (
    <Link
      href={`/deliveries?region=${region}&state=${state}`}
      prefetch={false}
      className="underline-offset-4 hover:underline"
    >
      {formatCount(count)}
    </Link>
  );
}
