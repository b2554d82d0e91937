import { expect, test } from 'vitest'
import { dnsResponder, type ProofRecord, proofsIn } from '../../../../src/certificates/acme/challenges.ts'
import { type CertificateIssuer, IssueFault } from '../../../../src/certificates/contract.ts'
import { DnsWriteFault } from '../../../../src/dns/contract.ts'
import { certificateStep } from '../../../../src/runs/steps/certificate.ts'

const HOST = 'app.lab.test'
const UNTIL = 1_800_000_000
const ORDERED = 'The authority was asked and the proof withdrawn.'

/** A certificate is ordered with dns-01. The server answers the addition of the proof with this fault, or confirms it. */
async function orderedAt(fault: DnsWriteFault | undefined, isAccessRefused = false) {
  const sent: string[] = []
  const provider = {
    assertAccess: async () => {
      if (isAccessRefused) throw fault
    },
    addValue: async (_record: unknown, signing?: (until: number) => Promise<void>) => {
      await signing?.(UNTIL)
      sent.push('add')
      if (fault) throw fault
    },
    removeValue: async () => {
      sent.push('remove')
      // A server that refuses the addition for its time refuses the removal, too.
      if (fault?.kind === 'refused') throw fault
    },
    settle: async (until: number) => void sent.push(`settle ${until}`),
  }
  let recorded: string | undefined
  const record: ProofRecord = {
    read: async () => recorded,
    write: async (text) => {
      recorded = text
    },
  }
  const issuer: Pick<CertificateIssuer, 'issue' | 'sweepChallenges'> = {
    issue: async (_names, responder) => {
      const proofs = proofsIn(record, responder)
      await proofs.publish(HOST, 'token', 'authorization', undefined)
      await proofs.withdrawAll(undefined)
      throw new Error(ORDERED)
    },
    sweepChallenges: async (_names, responder) => {
      const left = await proofsIn(record, responder).withdrawAll(undefined)
      if (left.length > 0) throw new IssueFault('challenge_failed', left.join(' '))
    },
  }
  const guard = { assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: 30_000 }
  const step = certificateStep({
    installed: async () => undefined,
    issuer,
    responder: dnsResponder({ provider, zone: 'lab.test', ttl: 60, waitUntilServed: async () => undefined }),
    names: [HOST],
    holdOrder: (_names, work) => work(),
    challengeSet: () => undefined,
    guard,
  })
  let image: Parameters<typeof step.undo>[0] = []
  const note = async (noted: typeof image) => {
    image = structuredClone(noted)
  }
  await expect(step.do([], {}, note)).rejects.toThrow(fault?.message ?? ORDERED)
  return { sent, undo: () => step.undo(image, {}, note) }
}

test.each([true, false])(
  'a proof that the DNS server refused is not withdrawn, so the run is rolled back',
  async (asked) => {
    const { sent, undo } = await orderedAt(new DnsWriteFault('refused', 'The clock is 3600 s ahead (BADTIME).'), asked)
    await undo()
    expect(sent).toEqual(asked ? [] : ['add'])
  },
)

test('a proof without an answer is withdrawn when it can be published no more', async () => {
  const { sent, undo } = await orderedAt(new DnsWriteFault('unknown', 'There was no answer.'))
  await undo()
  expect(sent.slice(0, 3)).toEqual(['add', `settle ${UNTIL}`, 'remove'])
  expect(sent.slice(3)).toEqual([`settle ${UNTIL}`, 'remove'])
})

test('a proof that the order has withdrawn is not withdrawn again, and its signature is not waited for', async () => {
  const { sent, undo } = await orderedAt(undefined)
  expect(sent).toEqual(['add', 'remove'])
  await undo()
  expect(sent).toEqual(['add', 'remove'])
})
