import { inFull, span } from './time.ts'

/** How long ago something was, and when exactly for who points at it. */
export function Ago({ at, now }: { readonly at: string; readonly now: number }) {
  const passed = now - Date.parse(at)
  return (
    <time dateTime={at} title={inFull(at)}>
      {passed < 1_000 ? 'just now' : `${span(passed)} ago`}
    </time>
  )
}
