import { rm } from 'node:fs/promises'
import { sentenceOf } from '../../model/fault.ts'
import { type ChallengeResponder, IssueFault } from '../contract.ts'
import { readIfThere, writePrivateFile } from '../private-file.ts'

/** What shows that a host is ours. No secret: it is published. */
interface Proof {
  readonly type: ChallengeResponder['type']
  readonly host: string
  readonly token: string
  readonly keyAuthorization: string
}

/** The proofs of one order, noted in a file before they are shown: whoever comes after a crash can take them away. */
export interface Proofs {
  show(host: string, token: string, keyAuthorization: string): Promise<void>
  /** All that are noted, from earlier calls too. Gives a sentence for each that could not be taken away and stays noted. */
  withdrawAll(): Promise<readonly string[]>
}

export function proofsIn(file: string, responder: ChallengeResponder): Proofs {
  const noted = async (): Promise<readonly Proof[]> => parse(await readIfThere(file))
  const note = (all: readonly Proof[]): Promise<void> =>
    all.length > 0 ? writePrivateFile(file, JSON.stringify(all)) : rm(file, { force: true })
  return {
    async show(host, token, keyAuthorization) {
      const proof: Proof = { type: responder.type, host, token, keyAuthorization }
      const others = (await noted()).filter((other) => JSON.stringify(other) !== JSON.stringify(proof))
      await note([...others, proof])
      await responder.present(host, token, keyAuthorization).catch((error: unknown) => {
        throw new IssueFault('challenge_failed', `The proof for ${host} could not be shown: ${clause(error)}.`)
      })
    },
    async withdrawAll() {
      const before = await noted()
      if (before.length === 0) return []
      const outcomes = await Promise.all(before.map((proof) => withdraw(responder, proof)))
      await note(before.filter((_, index) => outcomes[index] !== undefined))
      return outcomes.filter((outcome) => outcome !== undefined)
    },
  }
}

async function withdraw(responder: ChallengeResponder, proof: Proof): Promise<string | undefined> {
  const { type, host, token, keyAuthorization } = proof
  const left = `The ${type} proof for ${host} could not be taken away`
  if (type !== responder.type) return `${left}: challenges are ${responder.type} now.`
  return responder.withdraw(host, token, keyAuthorization).then(
    () => undefined,
    (error: unknown) => `${left}: ${clause(error)}.`,
  )
}

const clause = (error: unknown): string => sentenceOf(error).replace(/\.$/, '')

const parse = (text: string | undefined): readonly Proof[] => (text === undefined ? [] : JSON.parse(text))
