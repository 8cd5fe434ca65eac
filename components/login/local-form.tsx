"use client";
/** E-mail and password of a local account. Password managers and pasting work as anywhere. */
import { type FormEvent, useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { PRIMARY } from "./button-classes.ts";
import { useAttempt } from "./use-attempt.ts";

const MAX_EMAIL_CHARS = 190;
const MAX_PASSWORD_CHARS = 128;

export function LocalForm({ next }: { next: string }) {
  const id = useId();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { busy, error, run } = useAttempt();
  const errorId = error === null ? undefined : `${id}-error`;

  function submit(event: FormEvent) {
    event.preventDefault();
    run(async () => {
      await postJson("/api/auth/sign-in/email", { email: email.trim(), password });
      window.location.assign(next);
    });
  }

  return (
    <form onSubmit={submit} className="grid gap-4">
      <Field
        label="E-mail"
        type="email"
        autoComplete="username"
        maxLength={MAX_EMAIL_CHARS}
        value={email}
        onChange={setEmail}
        errorId={errorId}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        maxLength={MAX_PASSWORD_CHARS}
        value={password}
        onChange={setPassword}
        errorId={errorId}
      />
      {error === null ? null : (
        <p id={errorId} role="alert" className="text-danger text-table">
          {error}
        </p>
      )}
      <button type="submit" disabled={busy} className={PRIMARY}>
        {busy ? "Signing in" : "Sign in"}
      </button>
    </form>
  );
}

interface FieldProps {
  label: string;
  type: "email" | "password";
  autoComplete: string;
  maxLength: number;
  value: string;
  onChange: (value: string) => void;
  errorId: string | undefined;
}

function Field({ label, onChange, errorId, ...rest }: FieldProps) {
  const id = useId();
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-medium text-table">
        {label}
      </label>
      <input
        id={id}
        name={rest.type}
        required
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={errorId !== undefined}
        aria-describedby={errorId}
        className="h-10 w-full rounded-md border border-line-strong bg-surface px-3 text-body max-md:h-11 aria-invalid:border-danger-mark"
        {...rest}
      />
    </div>
  );
}
