"use client";
/**
 * How deliveries of one region are tried again, by class, with the versions of each, and the way to the next one for
 * whoever administers the whole region.
 */
import { useState } from "react";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { PolicyInForce } from "#db/console/list-policies.ts";
import type { ServiceClass } from "#domain/delivery.ts";
import { administersRegion } from "./administers.ts";
import type { RegionPolicyProps } from "./objectives-panel.tsx";
import { VersionLine, Versions } from "./policy-parts.tsx";
import { policyRows } from "./policy-words.ts";
import { RetryDialog } from "./retry-dialog.tsx";
import { retryHistory } from "./retry-words.ts";

const CLASS_WORDS: Readonly<Record<ServiceClass, string>> = { urgent: "Urgent", routine: "Routine" };

export function RetryPanel({
  region,
  policies,
  stale,
  onReload,
}: RegionPolicyProps & { policies: readonly PolicyInForce[] }) {
  const writes = administersRegion(useSignedIn(), region);
  const [open, setOpen] = useState<ServiceClass | null>(null);
  const title = `Retry policy in ${region.toUpperCase()}`;
  const opened = policies.find(({ serviceClass }) => serviceClass === open);
  return (
    <>
      <Panel
        flush
        title={title}
        note="of a class; a destination may override parts of it"
        stale={stale}
        actions={
          writes ? (
            <div className="flex flex-wrap gap-2">
              {policies.map(({ serviceClass }) => (
                <Button key={serviceClass} onClick={() => setOpen(serviceClass)}>
                  Change {serviceClass}
                </Button>
              ))}
            </div>
          ) : null
        }
      >
        {policies.map((policy) => (
          <VersionLine key={policy.serviceClass} of={CLASS_WORDS[policy.serviceClass]} policy={policy} />
        ))}
        <PolicyTable title={title} policies={policies} />
        {policies.map((policy) => (
          <Versions
            key={policy.serviceClass}
            label={`Versions of the ${policy.serviceClass} retry policy in ${region.toUpperCase()}`}
            policy={policy}
            changes={retryHistory(policy)}
          />
        ))}
      </Panel>
      {opened === undefined ? null : (
        <RetryDialog
          region={region}
          policy={opened}
          onReload={async () =>
            (await onReload())?.policies.find(({ serviceClass }) => serviceClass === open) ?? null
          }
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

function PolicyTable({ title, policies }: { title: string; policies: readonly PolicyInForce[] }) {
  return (
    <Table
      caption={`${title}, by service class`}
      columns={[
        { key: "what", label: "What" },
        ...policies.map(({ serviceClass }) => ({
          key: serviceClass,
          label: CLASS_WORDS[serviceClass],
          align: "right" as const,
        })),
      ]}
    >
      {policyRows(policies).map(({ what, values }) => (
        <Row key={what}>
          <HeadCell wrap>{what}</HeadCell>
          {policies.map(({ serviceClass }, index) => (
            <Cell key={serviceClass} align="right" wrap>
              {values[index]}
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}
