"use client";
/** A tenant's weight: its share of the slots while tenants compete for them. Nothing changes while there is room for all. */
import { useState } from "react";
import { NumberField } from "#components/ui/number-field.tsx";
import type { TenantControlView } from "#db/console/control-views.ts";
import { MAX_WEIGHT } from "./bounds.ts";
import { ControlDialog } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { CountAndAge, Effects, Fact, Facts } from "./dialog-parts.tsx";
import { readLimit } from "./limit-draft.ts";

export function WeightDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  const fill = request.fill?.weight;
  const [typed, setTyped] = useState<string | null>(fill === undefined ? null : String(fill));
  const read = (view: TenantControlView) =>
    readLimit({ text: typed ?? String(view.weight), min: 1, max: MAX_WEIGHT, whole: true, empty: null });
  return (
    <ControlDialog<TenantControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => {
        const { value, error } = read(view);
        const same = value === view.weight ? "Nothing is changed yet." : null;
        return {
          body: { weight: value },
          button: error === null && same === null ? `Set weight to ${value}` : "Set weight",
          problem: error ?? same,
        };
      }}
    >
      {({ view, asOf }) => (
        <>
          <Facts asOf={asOf}>
            <Fact label="Weight">{view.weight}</Fact>
            <Fact label="In flight">{view.inFlight}</Fact>
            <Fact label="Due now">
              <CountAndAge value={view.due} />
            </Fact>
          </Facts>
          <Effects>
            <li>While tenants compete for slots, one of weight 2 gets twice the share of one of weight 1.</li>
            <li>While there is room for all, it changes nothing. Caps and rates still hold.</li>
          </Effects>
          <NumberField
            label="Weight"
            name="the weight"
            value={typed ?? String(view.weight)}
            onChange={setTyped}
            min={1}
            max={MAX_WEIGHT}
            error={read(view).error}
          />
        </>
      )}
    </ControlDialog>
  );
}
