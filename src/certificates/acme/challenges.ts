import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { DnsWriteFault, isRefused, type LeasedProvider, type ZoneRecord } from '../../dns/contract.ts'
import { isInZone } from '../../model/dns-name.ts'
import { sentenceOf } from '../../model/errors.ts'
import { untilAborted } from '../../primitives/abort.ts'
import { type ChallengeResponder, IssueFault, type OrderSecrets } from '../contract.ts'
import { readIfExists, writePrivateFile } from '../stock/private-file.ts'

/** Shows the authority that we control a host. It is not secret: it is published. */
interface Proof {
  readonly type: ChallengeResponder['type']
  readonly host: string
  readonly token: string
  readonly keyAuthorization: string
  /** Up to which second it may be published, if that was not confirmed. */
  readonly validUntil?: number | undefined
}

/** The published proofs of one order. Each is recorded before it is published, so that it can be withdrawn after a crash. */
export interface Proofs {
  publish(host: string, token: string, keyAuthorization: string, signal: AbortSignal | undefined): Promise<void>
  /** Withdraws all recorded proofs, those of earlier calls included, after a call that is under way. Returns a sentence for each that could not be withdrawn and stays recorded. */
  withdrawAll(signal: AbortSignal | undefined): Promise<readonly string[]>
}

/** Where the proofs of one order are recorded. Durable when `write` resolves. */
export interface ProofRecord {
  read(): Promise<string | undefined>
  write(text: string | undefined): Promise<void>
}

export const proofFile = (file: string): ProofRecord => ({
  read: () => readIfExists(file),
  write: (text) => (text === undefined ? rm(file, { force: true }) : writePrivateFile(file, text)),
})

/** In the store, where another instance can withdraw the proofs of one that died. */
export const sharedProofs = (vault: OrderSecrets, name: string): ProofRecord => ({
  read: () => vault.read(name),
  write: (text) => (text === undefined ? vault.drop(name) : vault.put(name, text)),
})

export function proofsIn(record: ProofRecord, responder: ChallengeResponder): Proofs {
  const recorded = async (): Promise<readonly Proof[]> => parse(await record.read())
  const keep = (all: readonly Proof[]): Promise<void> => record.write(all.length > 0 ? JSON.stringify(all) : undefined)
  const withdrawRecorded = async (signal: AbortSignal | undefined): Promise<readonly string[]> => {
    const before = await recorded()
    if (before.length === 0) return []
    const outcomes = await Promise.all(before.map((proof) => withdraw(responder, asConfirmed(proof), signal)))
    await keep(before.filter((_, index) => outcomes[index] !== undefined))
    return outcomes.filter((outcome) => outcome !== undefined)
  }
  /** A proof that a server has confirmed is recorded as if it had not, because it is written before it is sent. */
  const confirmed = new Set<string>()
  const asConfirmed = (proof: Proof): Proof =>
    confirmed.has(idOf(proof)) ? { ...proof, validUntil: undefined } : proof
  let underWay: Promise<unknown> = Promise.resolve()
  return {
    async publish(host, token, keyAuthorization, signal) {
      const proof: Proof = { type: responder.type, host, token, keyAuthorization }
      const others = async () => (await recorded()).filter((other) => !isSameProof(other, proof))
      const isNew = (await others()).length === (await recorded()).length
      await keep([...(await others()), proof])
      const signing = async (validUntil: number) => keep([...(await others()), { ...proof, validUntil }])
      const presented = responder.present(host, token, keyAuthorization, signal, signing)
      await untilAborted(presented, signal).catch(async (error: unknown) => {
        // A refused proof was not published, so there is nothing to withdraw.
        if (isNew && isRefused(error)) await keep(await others())
        const sentence = `The ${responder.type} challenge for ${host} could not be published. ${sentenceOf(error)}`
        throw new IssueFault('challenge_failed', sentence)
      })
      confirmed.add(idOf(proof))
    },
    withdrawAll(signal) {
      const withdrawn = underWay.then(() => withdrawRecorded(signal))
      underWay = withdrawn.catch(() => undefined)
      return withdrawn
    },
  }
}

const idOf = ({ type, host, token }: Proof): string => `${type} ${host} ${token}`

const isSameProof = (one: Proof, other: Proof): boolean =>
  idOf(one) === idOf(other) && one.keyAuthorization === other.keyAuthorization

async function withdraw(
  responder: ChallengeResponder,
  proof: Proof,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { type, host, token, keyAuthorization, validUntil } = proof
  const failure = `The ${type} challenge for ${host} could not be withdrawn.`
  if (type !== responder.type) return `${failure} acme.challenge is ${responder.type} now.`
  return untilAborted(responder.withdraw(host, token, keyAuthorization, signal, validUntil), signal).then(
    () => undefined,
    (error: unknown) => `${failure} ${sentenceOf(error)}`,
  )
}

const parse = (text: string | undefined): readonly Proof[] => (text === undefined ? [] : JSON.parse(text))

export interface DnsResponderOptions {
  readonly provider: Pick<LeasedProvider, 'addValue' | 'removeValue' | 'assertAccess' | 'settle'>
  /** The zone that the provider changes. */
  readonly zone: string
  readonly ttl: number
  /** Resolves when every name server of the zone serves the record. Rejects with a Fault when that takes too long. */
  readonly waitUntilServed: (record: ZoneRecord, signal?: AbortSignal) => Promise<void>
}

/** dns-01: a TXT record. Other TXT records of the same name are not changed. */
export function dnsResponder({ provider, zone, ttl, waitUntilServed }: DnsResponderOptions): ChallengeResponder {
  const recordFor = (host: string, keyAuthorization: string): ZoneRecord => {
    if (!isInZone(host, zone)) throw new Error(`The host ${host} is not in the zone ${zone}.`)
    const value = createHash('sha256').update(keyAuthorization).digest('base64url')
    return { name: `_acme-challenge.${host}`, type: 'TXT', ttl, value }
  }
  return {
    type: 'dns-01',
    async present(host, _token, keyAuthorization, signal, signing) {
      const record = recordFor(host, keyAuthorization)
      await provider.assertAccess().catch((error: unknown) => {
        throw error instanceof DnsWriteFault ? new DnsWriteFault('refused', error.message) : error
      })
      await provider.addValue(record, signing)
      await waitUntilServed(record, signal)
    },
    async withdraw(host, _token, keyAuthorization, _signal, validUntil) {
      // An addition without an answer could be made after the removal.
      if (validUntil !== undefined) await provider.settle(validUntil)
      await provider.removeValue(recordFor(host, keyAuthorization))
    },
  }
}
