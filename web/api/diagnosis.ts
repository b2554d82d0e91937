import { skipToken, useQuery } from '@tanstack/react-query'
import { type ActWords, diagnosisIn } from '../../src/client/advice.ts'
import type { Diagnosis } from '../../src/client/index.ts'
import { client } from './client.ts'

export type { Diagnosis } from '../../src/client/index.ts'
export type Link = Diagnosis['chain'][number]
export type DiagnosedAct = Diagnosis['cause']['acts'][number]
/** The acts with a button. A blocked run is resolved by a command on the server. */
export type Act = Exclude<DiagnosedAct, 'resolve'>

/** What Drawbridge can do about a cause, in terms of the buttons below it. */
const BUTTONS: ActWords = {
  repair: 'Press Repair to write it again as it was applied.',
  overwriteOrAccept: 'Press “Overwrite and repair” to discard the change, or Accept to keep it.',
  overwrite: 'Press “Overwrite and repair” to discard the change.',
  renew: 'Press “Renew certificate” to renew it now.',
}

/**
 * Runs when the panel opens and on request only, because each diagnosis counts against the rate limit of the caller. Without a
 * host nothing is diagnosed.
 */
export const useDiagnosis = (host: string | undefined) =>
  useQuery({
    queryKey: ['diagnosis', host],
    queryFn: host === undefined ? skipToken : async () => diagnosisIn(await client.diagnose(host), BUTTONS),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
