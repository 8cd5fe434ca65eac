"use client";
/** The settings in four tabs. What one may not see is there all the same, with the role that may. */
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { oneOf } from "#components/ui/list-parameters.ts";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import { AccessPanel } from "./access-panel.tsx";
import { PoliciesPanel } from "./policies-panel.tsx";
import { ProfilePanel } from "./profile-panel.tsx";
import { TokensPanel } from "./tokens-panel.tsx";

const TABS = ["profile", "access", "tokens", "policies"] as const;
const LABELS = { profile: "Profile", access: "Access", tokens: "Service tokens", policies: "Policies" };
// The region is the frame's: it comes along from page to page.
const PARAMETERS = { tab: oneOf(TABS), region: oneOf(["us", "eu"]) };

/** The open tab stands in the address. */
export function SettingsPage() {
  const [tab, setTab] = useQueryState(
    "tab",
    parseAsStringLiteral(TABS).withDefault("profile").withOptions({ history: "push" }),
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DroppedChips known={PARAMETERS} />
      <Tabs
        label="Settings"
        value={tab}
        onChange={(key) => void setTab(TABS.find((known) => known === key) ?? "profile")}
        tabs={TABS.map((key) => ({ key, label: LABELS[key] }))}
      />
      <TabPanel tab="profile" value={tab}>
        <ProfilePanel />
      </TabPanel>
      <TabPanel tab="access" value={tab}>
        <AccessPanel />
      </TabPanel>
      <TabPanel tab="tokens" value={tab}>
        <TokensPanel />
      </TabPanel>
      <TabPanel tab="policies" value={tab}>
        <PoliciesPanel />
      </TabPanel>
    </div>
  );
}
