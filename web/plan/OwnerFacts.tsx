import type { Plan } from '../api/plans.ts'

/** Who owns an exposure and what was noted about it, as parts of a list of facts. */
export function OwnerFacts({ request: { owner, note } }: { readonly request: Plan['request'] }) {
  return (
    <>
      {owner && (
        <div>
          <dt>Owner</dt>
          <dd>{owner}</dd>
        </div>
      )}
      {note && (
        <div>
          <dt>Note</dt>
          <dd>{note}</dd>
        </div>
      )}
    </>
  )
}
