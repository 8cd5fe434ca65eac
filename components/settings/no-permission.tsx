/** Says which role a part of the settings needs. The page hides nothing. */
import { Lock } from "lucide-react";
import type { ReactNode } from "react";

export function NoPermission({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div role="status" className="flex flex-col items-center px-4 py-12 text-center">
      <Lock aria-hidden="true" className="size-6 text-faint" strokeWidth={1.5} />
      <p className="mt-3 font-medium">{title}</p>
      <div className="mt-1 max-w-prose text-muted text-table">{children}</div>
    </div>
  );
}
