import type { Edge, EdgeAnswer, EdgeFile, EdgeProposal, StandingEntry } from '../../../src/edge/contract.ts'
import { hashOf } from '../../../src/edge/files/files.ts'
import type { StrayLines } from '../../../src/model/host-status.ts'
import type { HostFence } from '../../../src/model/run.ts'

export const pathOf = (host: string): string => `entries/${host}`

/** A stand-in for an edge, which makes every change. Its entries are the ids of plans after the text of a version, and a certificate. */
export class FakeEdge {
  readonly server: string
  readonly texts = new Map<string, string>()
  readonly fences: HostFence[] = []
  readonly unused: EdgeFile[] = []
  /** How this version writes. */
  version = 'v1'
  /** What stands in a block of this edge alone. */
  listen = ''
  changes = 0
  mostFiles = 0
  beforeRun = async (): Promise<void> => undefined
  readonly stray: StrayLines[] = []
  answer: EdgeAnswer = { kind: 'no_answer', reason: 'unknown_host' }
  ask: Edge['ask'] = async () => this.answer

  constructor(server: string) {
    this.server = server
  }

  put(host: string, planId: string, version = this.version, certificate?: string): void {
    this.texts.set(pathOf(host), `${version} ${planId}${this.listen}${ofCertificate(certificate)}`)
  }

  get hosts(): string[] {
    return [...this.texts.keys()].map((path) => path.slice('entries/'.length))
  }

  get edge(): Edge {
    const { server, texts } = this
    const entry = (path: string, text: string): StandingEntry => {
      const [, planId] = /^v\d (\S+)/.exec(text) ?? []
      return { host: path.slice('entries/'.length), planId, certificate: certificateIn(text), isInLayout: true }
    }
    const standIn: Partial<Edge> = {
      server,
      prepare: async () => undefined,
      assertValid: () => this.beforeRun(),
      ask: (question) => this.ask(question),
      generation: async () => String(this.changes),
      stray: async () => [...this.stray],
      listens: async () => [...this.listen.matchAll(/listen (\S+);/g)].flatMap(([, at]) => at ?? []),
      list: async () => [...texts].map(([path, text]) => entry(path, text)),
      fencesOf: async (hosts) => this.fences.filter(({ host }) => hosts.includes(host)),
      hashFiles: async (paths) => paths.map((path) => ({ path, hash: hashOf(texts.get(path) ?? null) })),
      filesFor: async ({ host, planId, certificate }) => {
        const content = `${this.version} ${planId}${this.listen}${ofCertificate(certificate?.fingerprint)}`
        return [{ path: pathOf(host), content, secret: false }]
      },
      certificateId: (fingerprint) => fingerprint,
      isCertificateFile: () => false,
      read: async (paths) => paths.map((path) => ({ path, content: texts.get(path) ?? null, secret: false })),
      filesWithout: async (host) => [{ path: pathOf(host), content: null, secret: false }],
      unusedCertificates: async () => this.unused,
      change: (proposal) => this.#change(proposal),
    }
    return standIn as Edge
  }

  async #change({ propose, fences = [] }: EdgeProposal): Promise<void> {
    this.changes += 1
    const { files } = await propose()
    this.fences.push(...fences)
    this.mostFiles = Math.max(this.mostFiles, files.length)
    for (const { path, content } of files)
      if (content === null) this.texts.delete(path)
      else this.texts.set(path, content)
  }
}

const ofCertificate = (fingerprint: string | undefined): string =>
  fingerprint === undefined ? '' : ` certificate=${fingerprint}`

export const certificateIn = (text: string): string | undefined => / certificate=(\S+)$/.exec(text)?.[1]
