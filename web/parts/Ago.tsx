import { inFull, span } from './time.ts'

/** The time since an event, with the exact time as a tooltip. */
export function Ago({ at, now }: { readonly at: string; readonly now: number }) {
  const passed = now - Date.parse(at)
  return (
    <time dateTime={at} title={inFull(at)}>
      {passed < 1_000 ? 'just now' : `${span(passed)} ago`}
    </time>
  )
}
