import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { expose, PAGE, setUp, states, visit } from '../../support/machine/installation.ts'
import { Machine } from '../../support/machine/machine.ts'
import { surround } from '../../support/machine/surroundings.ts'
import { buildPackage } from '../../support/package/build.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
let deb: string

beforeAll(async () => {
  ;({ deb } = await buildPackage(join(folder.path, 'first'), { only: 'deb', uncompressed: true }))
}, 300_000)
afterAll(() => folder[Symbol.dispose]())

/** Booted with a real systemd: Debian 12 with its own nginx, BIND, and the package as it is built. */
describe.runIf(isRoot())('a server of somebody', { timeout: 300_000 }, () => {
  let machine: Machine
  beforeAll(async () => {
    machine = await Machine.boot('bookworm')
    await surround(machine)
    await setUp(machine, deb)
  }, 400_000)
  afterAll(() => machine?.[Symbol.asyncDispose]())

  test('serves a first host over HTTPS beside the default site of Debian', async () => {
    expect(await expose(machine, 'first.example.test')).toMatchObject({ code: 0 })
    expect(await visit(machine, 'first.example.test')).toBe(PAGE)
    expect(await machine.done('curl -s http://192.168.45.23/')).toContain('Welcome to nginx!')
    expect(await states(machine)).toEqual(['active', 'active'])
  })
})
