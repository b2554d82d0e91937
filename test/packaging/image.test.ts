import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkout } from '../../lab/checkout.ts'
import { isRoot } from '../../lab/program.ts'
import { buildPackage } from '../support/package/build.ts'
import { imageWalkOf, type SeenOfImage } from '../support/package/walk.ts'
import { tempFolder } from '../support/temp-folder.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const suite = isRoot() && process.env.CAMPAIGN !== undefined ? describe : describe.skip

suite('the image', () => {
  const folder = tempFolder()
  const at = (name: string): string => join(folder.path, name)
  let layout: string

  /** Resolves with the path of its OCI layout. */
  function build(out: string, deb: string): string {
    const program = join(checkout(), 'bin/image.mjs')
    execFileSync(process.execPath, [program, '--deb', deb, '--out', at(out)], { stdio: 'pipe' })
    return at(`${out}/${readdirSync(at(out)).find((name) => name.endsWith('.oci'))}`)
  }

  let deb: string
  beforeAll(async () => {
    mkdirSync(at('package'))
    ;({ deb } = await buildPackage(at('package'), { only: 'deb', uncompressed: true }))
    layout = build('first', deb)
  }, 900_000)
  afterAll(() => folder[Symbol.dispose]())

  test('has the same bytes twice', { timeout: 900_000 }, async () => {
    const again = build('second', deb)
    expect(readdirSync(join(again, 'blobs/sha256')).toSorted()).toEqual(
      readdirSync(join(layout, 'blobs/sha256')).toSorted(),
    )
    expect(readFileSync(join(again, 'index.json'), 'utf8')).toBe(readFileSync(join(layout, 'index.json'), 'utf8'))
    const tarball = (path: string) => path.replace(/\.oci$/, '.rootfs.tar')
    expect(await hashOf(tarball(again))).toBe(await hashOf(tarball(layout)))
  })

  test('names each blob by its hash, and no path or mirror of the machine that built it', async () => {
    const blobs = readdirSync(join(layout, 'blobs/sha256'))
    expect(blobs).toHaveLength(3)
    for (const name of blobs) expect(await hashOf(join(layout, 'blobs/sha256', name))).toBe(name)
    const tarball = layout.replace(/\.oci$/, '.rootfs.tar')
    const sources = execFileSync('tar', ['-xOf', tarball, './etc/apt/sources.list.d/debian.sources'], {
      encoding: 'utf8',
    })
    expect(sources).toContain('URIs: http://deb.debian.org/debian\n')
  })

  let seen: SeenOfImage
  test('a container serves a first host over HTTPS, and another one on its volumes goes on', {
    timeout: 900_000,
  }, async () => {
    seen = await imageWalkOf(`${layout}:${version}`)
    expect(seen).toMatchObject({
      init: { code: 0, output: expect.stringMatching(/nginx served a test entry[\s\S]*Next: restart this container/) },
      users: { service: 'drawbridge', agent: 'root' },
      expose: { code: 0, answer: 200, points: ['127.0.45.23'] },
      again: 200,
    })
  })

  test('its store is in PostgreSQL after the commands of the page, without and with TLS', () => {
    const looked = { code: 0, answer: 200, doctor: 0 }
    expect(seen.postgres).toEqual({
      plain: { ...looked, tls: 'f', stored: 'plain.lab.test' },
      encrypted: { ...looked, tls: 't', stored: 'encrypted.lab.test plain.lab.test' },
      passwordShown: false,
    })
  })
})

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
