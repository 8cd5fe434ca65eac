"use client";
/**
 * Shows the open control dialog. Its code is loaded when a dialog is first opened: pages that only show buttons stay
 * small. It may stand on a page several times; only one of them shows anything.
 */
import dynamic from "next/dynamic";
import { useEffect, useState } from "react";
import { closeControl, enrolHost, useIsFirstHost, useOpenControl } from "./control-store.ts";

const ControlDialogs = dynamic(
  () => import("./control-dialogs.tsx").then((module) => module.ControlDialogs),
  {
    ssr: false,
  },
);

/** Stands in the shell, so that Undo works on every page, and beside whatever opens a control. */
export function ControlHost() {
  const [host] = useState(() => Symbol("control host"));
  useEffect(() => enrolHost(host), [host]);
  const first = useIsFirstHost(host);
  const open = useOpenControl();
  if (!first || open === null) return null;
  return <ControlDialogs key={open.id} request={open.request} onClose={closeControl} />;
}
