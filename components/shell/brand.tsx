/** The name and its mark: a gate with water held on one side. */

/** Mark and word. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold tracking-tight">
      <svg viewBox="0 0 20 20" className="size-5 text-accent-solid" aria-hidden="true">
        <rect x="0" y="0" width="20" height="20" rx="5" fill="currentColor" />
        <path
          d="M4 7.2h4.2M4 10h4.2M4 12.8h4.2M12.6 12.8H16"
          stroke="#fff"
          strokeWidth="1.6"
          strokeLinecap="round"
          fill="none"
        />
        <path d="M10.4 4v8" stroke="#fff" strokeWidth="1.9" strokeLinecap="round" fill="none" />
      </svg>
      Sluice
    </span>
  );
}
