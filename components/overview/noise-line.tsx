/**
 * Who is noisy in one region, under its verdict: each with what it takes and a way to its controls. A region that was not
 * heard must never be called quiet by it.
 */
import { Megaphone } from "lucide-react";
import Link from "next/link";
import { StatusText } from "#components/ui/status.tsx";
import type { RegionNoise } from "#db/console/tenant-loads.ts";
import type { Region } from "#domain/region.ts";
import { noisyText, quietText } from "./noise-words.ts";
import { unbroken } from "./overview-words.ts";

export interface NoiseLineProps {
  region: Region;
  noise: RegionNoise;
  /** Of the workers that run. */
  slots: number;
}

export function NoiseLine({ region, noise, slots }: NoiseLineProps) {
  return (
    <div data-testid={`noise-${region}`} className="text-body">
      {noise.tenants.length === 0 ? (
        <p className="text-muted">{unbroken(quietText(noise))}</p>
      ) : (
        <ul className="grid gap-1">
          {noise.tenants.map((tenant) => (
            <li key={tenant.id} className="text-muted">
              <NoisyMark />{" "}
              <Link
                href={`/tenants/${tenant.id}?region=${region}`}
                prefetch={false}
                className="inline-flex min-h-6 items-center font-medium text-fg underline underline-offset-4"
              >
                {tenant.name}
              </Link>{" "}
              {unbroken(noisyText(tenant, noise.minutes, slots))}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The mark of a noisy tenant, the same wherever it stands. */
export function NoisyMark() {
  return <StatusText tone="warn" icon={Megaphone} label="Noisy" className="font-medium" />;
}
