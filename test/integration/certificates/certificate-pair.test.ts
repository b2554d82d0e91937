import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { certificateInventory } from '../../../src/certificates/stock/inventory.ts'
import { checkIssued, loadPair } from '../../../src/certificates/stock/pair.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { freshFolder } from '../../support/fresh.ts'

const DAY = 24 * 60 * 60 * 1000
const HOST = 'app.lab.test'

const at = freshFolder()
beforeEach(async () => {
  await make('one', ['DNS:app.lab.test', 'DNS:*.app.lab.test'])
})

const text = (file: string): string => readFileSync(at(file), 'utf8')
const make = (label: string, names: string[]) =>
  makeCertificate({ certificate: at(`${label}.pem`), key: at(`${label}.key`), names, days: 10 })

describe('what an authority sent', () => {
  const check = (chain = text('one.pem'), names = [HOST], now = Date.now()) =>
    checkIssued(chain, text('one.key'), names, now)

  test('is described when it is what was asked for', () => {
    expect(check(undefined, [HOST, `*.${HOST}`])).toMatchObject({
      names: [HOST, `*.${HOST}`],
      certificatePem: text('one.pem'),
    })
  })

  test('is refused otherwise', async () => {
    await make('two', ['DNS:app.lab.test'])
    expect(() => check('no PEM')).toThrow('has no certificate')
    expect(() => check(text('one.pem').slice(0, -30))).toThrow('incomplete PEM text')
    expect(() => check(text('two.pem'))).toThrow('is for another key')
    expect(() => check(undefined, [HOST, 'other.test'])).toThrow('does not cover other.test')
    expect(() => check(undefined, ['*.lab.test'])).toThrow('does not cover *.lab.test')
    expect(() => check(undefined, [HOST], Date.now() + 11 * DAY)).toThrow('has expired')
    expect(() => check(text('one.pem') + text('two.pem'))).toThrow('has a broken chain')
    expect(() => check(`${text('one.pem')}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`)).toThrow(
      'has a certificate that cannot be read',
    )
  })
})

describe('the texts of an installed certificate', () => {
  const installed = async () => {
    const found = await certificateInventory([at()]).covering(HOST, Date.now() + 2_000)
    if (!found) throw new Error('not found')
    return found
  }

  test('are the certificates of one file and the one right key of the other', async () => {
    await make('two', ['DNS:other.test'])
    writeFileSync(at('both.pem'), text('two.key') + text('one.key') + text('one.pem') + text('two.pem'))
    const key = text('one.key')
    rmSync(at('one.pem'))
    rmSync(at('one.key'))
    expect(await loadPair(await installed())).toEqual({
      certificatePem: text('both.pem').slice(text('both.pem').indexOf('-----BEGIN CERT')),
      keyPem: key,
      fingerprint: (await installed()).fingerprint,
    })
  })

  test.each<[string, () => void | Promise<void>, RegExp]>([
    ['replaced', () => make('one', ['DNS:app.lab.test']), /one\.pem has another certificate than before/],
    ['gone', () => rmSync(at('one.pem')), /one\.pem cannot be opened \(ENOENT\)/],
    ['emptied', () => truncateSync(at('one.pem')), /one\.pem has another certificate/],
    ['without its key', () => truncateSync(at('one.key')), /one\.key does not have the key/],
    ['with half a key', () => truncateSync(at('one.key'), 60), /one\.key has incomplete PEM text/],
  ])('are not given when it was %s meanwhile', async (_, change, sentence) => {
    const before = await installed()
    await change()
    await expect(loadPair(before)).rejects.toMatchObject({ kind: 'local', message: expect.stringMatching(sentence) })
  })
})
