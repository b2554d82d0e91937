import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { EntryOptions } from '../../../src/model/exposure.ts'
import { renderBase } from '../../../src/nginx/config/render-base.ts'
import { Draft } from '../../../src/nginx/generations/draft.ts'
import { Pairs } from '../../../src/nginx/generations/pairs.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { enter, formerOf, stage } from '../../../src/nginx/generations/stage.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { Slices } from '../../../src/primitives/slices.ts'
import { entryOf } from './edge.ts'

const LISTENING = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }
const PLAN = `plan_${'a'.repeat(26)}`

export interface Entry {
  readonly host: string
  readonly target?: string
  readonly tls?: boolean
  /** With options an entry has server blocks of its own. */
  readonly options?: EntryOptions
}

/** Enters a generation with further entries, as an apply would, without nginx. Certificates are left out. */
export async function enterGeneration(
  folder: string,
  entries: readonly Entry[],
  listen: readonly string[] = LISTENING.listen,
): Promise<void> {
  for (const path of ['generations', '.staging']) mkdirSync(join(folder, path), { recursive: true })
  const present = new PresentGeneration(folder)
  const pairs = new Pairs(folder, systemClock.now)
  // A pair that is there without a text: what a certificate is does not matter here.
  Object.assign(pairs, { find: () => ({ certificatePem: EMPTY, keyPem: EMPTY }) })
  const former = formerOf(folder, present.number)
  const draft = new Draft({ present, pairs, listening: { ...LISTENING, listen } })
  for (const { host, target = 'http://192.168.45.25:3000', tls = false, options } of entries) {
    const entry = entryOf({ host, planId: PLAN, target, proof: 'a'.repeat(64), ...(options && { options }) })
    draft.put(tls ? { ...entry, certificate: 'a'.repeat(32) } : entry)
  }
  const staged = await stage(folder, {
    clock: systemClock,
    former,
    texts: await draft.texts(new Slices()),
    base: (generation) =>
      renderBase({ ...LISTENING, listen, folder }, { ...generation, serves: { http: true, https: true } }),
  })
  await staged.durable
  await enter(folder, staged)
}

const EMPTY = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'
