import type { ZoneRecord } from '../../dns/contract.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { EdgeAnswer } from '../../edge/contract/visit.ts'
import type { EntryOptions } from '../../model/exposure.ts'
import { statusesOf } from '../../model/options/answers.ts'
import type { Afters, EdgeVerdict, Receipt } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { type Step, StepFault } from '../engine/step.ts'
import type { SecondaryWork } from './secondary.ts'
import type { Held } from './zone-updates.ts'

export interface VerifyParts {
  readonly primary: Edge
  /** What the run did on the Secondary. */
  readonly secondary: SecondaryWork | undefined
  readonly judge: EdgeJudge
  readonly readBack: (records: readonly ZoneRecord[]) => Promise<Held>
  readonly clock: Clock
}

export type EdgeJudge = (edge: Edge, afters: Afters) => Promise<EdgeVerdict>

interface Judged {
  readonly host: string
  readonly health: string
  readonly tls: boolean
  /** The secret of the plan. */
  readonly proof: string
  readonly options?: EntryOptions | undefined
}

/** Asks an edge for the host as a visitor does, and checks on every listen address that the plan's own entry answers. */
export const edgeJudge =
  ({ host, health: path, tls, proof, options }: Judged): EdgeJudge =>
  async (edge, afters) => {
    const question = { host, path, tls, proof }
    const [answer, [elsewhere]] = await Promise.all([edge.ask(question), edge.foreignListeners(question)])
    const expected = tls ? afters.certificate?.fingerprint : undefined
    return { server: edge.server, ...verdictOn(answer, elsewhere, expected, statusesOf(options)) }
  }

const ATTEMPTS = 3
const PAUSE_MS = 150

/** The verdict: DNS serves the plan's records and the Primary serves the host. The Secondary is reported and never decides. */
export function verifyStep(records: readonly ZoneRecord[], parts: VerifyParts): Step<'verify', null> {
  const { primary, secondary, judge, readBack, clock } = parts
  let asked: Promise<EdgeVerdict> | undefined
  return {
    name: 'verify',
    decides: true,
    before: async () => null,
    async do(_before, afters) {
      const [held, verdict] = await Promise.all([
        readBack(records),
        confirmed((attempt) => (attempt === 1 ? asked : undefined) ?? judge(primary, afters), clock),
      ])
      if (held !== 'yes') throw new StepFault(`The DNS server does not serve the records of this plan (${held}).`)
      if (!verdict.ok) throw new StepFault(verdict.detail)
      const other = await secondary?.report((edge) => judge(edge, afters))
      return { primary: verdict, secondary: secondary && other ? secondary.verdict(other) : null }
    },
    undo: async () => undefined,
    // The edge's answer does not depend on DNS, so the edge is asked while the records are written.
    early: {
      beside: 'dns',
      begin: (afters) => {
        asked = judge(primary, afters)
        // `do` handles the rejection.
        asked.catch(() => undefined)
      },
    },
  }
}

/** A single failed answer decides nothing. */
const confirmed = (judge: (attempt: number) => Promise<EdgeVerdict>, clock: Clock): Promise<EdgeVerdict> =>
  poll(judge, ({ ok }) => ok, { firstMs: PAUSE_MS, tries: ATTEMPTS, clock })

const FOREIGN = 'A server block that is not part of this plan answers'

/** `elsewhere`: a listen address where another server block than the plan's answers. */
function verdictOn(
  answer: EdgeAnswer,
  elsewhere: string | undefined,
  expectedFingerprint: string | undefined,
  statuses: readonly number[],
): Omit<EdgeVerdict, 'server'> {
  if (answer.kind === 'no_answer')
    return { ok: false, detail: `The edge gave no answer for the host (${answer.reason}).` }
  const { httpStatus, latencyMs, certificate, entry } = answer
  const issuer = certificate?.issuer
  const measured = { httpStatus, latencyMs, ...(issuer !== undefined && { issuer }) }
  if (entry === 'other') return { ok: false, detail: `${FOREIGN} for the host.`, ...measured }
  if (elsewhere !== undefined) return { ok: false, detail: `${FOREIGN} for the host on ${elsewhere}.`, ...measured }
  if ((httpStatus < 200 || httpStatus > 299) && !statuses.includes(httpStatus)) {
    return { ok: false, detail: `Through the edge the health path answered HTTP ${httpStatus}.`, ...measured }
  }
  if (expectedFingerprint !== undefined && certificate?.fingerprint !== expectedFingerprint) {
    return { ok: false, detail: 'The edge serves another certificate than the installed one.', ...measured }
  }
  return { ok: true, detail: `Through the edge the health path answered HTTP ${httpStatus}.`, ...measured }
}

/** The Primary's answer at the verification of the apply. With TLS that step also proved the certificate. */
export function verifiedAnswer(receipt: Receipt | undefined): EdgeAnswer | undefined {
  const { verification, certificate } = receipt ?? {}
  const { httpStatus, latencyMs, issuer } = verification?.primary ?? {}
  if (httpStatus === undefined || latencyMs === undefined) return undefined
  if (!certificate) return { kind: 'answer', httpStatus, latencyMs }
  const { fingerprint, names } = certificate
  const notBefore = new Date(certificate.notBefore).toISOString()
  const notAfter = new Date(certificate.notAfter).toISOString()
  return {
    kind: 'answer',
    httpStatus,
    latencyMs,
    certificate: {
      ...{ fingerprint, names, coversHost: true, notBefore, notAfter },
      ...(issuer !== undefined && { issuer }),
    },
  }
}
