import { describe, expect, test } from 'vitest'
import { type CaaQuestion, evaluateCaa } from '../../../src/certificates/budget/caa.ts'
import type { CaaProperty } from '../../../src/dns/contract.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const property = (tag: string, value: string, critical = false): CaaProperty => ({ tag, value, critical })
const issue = (...values: string[]) => values.map((value) => property('issue', value))
const asked = (properties: readonly CaaProperty[], more: Partial<CaaQuestion> = {}) =>
  evaluateCaa(properties, { identities: ['ca.test'], challenge: 'dns-01', wildcard: false, ...more })
const verdict = (properties: readonly CaaProperty[], identities = ['ca.test', 'ca.example']) =>
  asked(properties, { identities }).verdict

test('the method that counts is the one that is used', () => {
  const byHttp = issue('ca.test; validationmethods=http-01')
  expect(asked(byHttp, { challenge: 'http-01' }).verdict).toBe('allowed')
  expect(asked(byHttp).because).toContain('do not allow dns-01')
})

test.each<[string, CaaProperty[]]>([
  ['that is named', issue('ca.test')],
  ['by its other name', issue('ca.example')],
  ['without regard to case', issue('CA.Test')],
  ['that is named among others', issue('other.test', 'ca.test')],
  ['beside a record that allows nobody', issue(';', 'ca.test')],
  ['with spaces and an empty parameter list', issue(' \tca.test ; ')],
  ['with parameters that are not known', issue('ca.test; policy=ev ;x=1')],
  ['when the dns-01 method is among the allowed ones', issue('ca.test; validationmethods=http-01,dns-01')],
  ['when only wildcards are restricted', [property('issuewild', ';')]],
  ['when there is only a place for reports', [property('iodef', 'mailto:a@lab.test')]],
  ['beside an unknown property that is not critical', [property('future', 'x'), ...issue('ca.test')]],
  ['beside known critical ones', [property('iodef', 'mailto:a@lab.test', true), property('issue', 'ca.test', true)]],
])('CAA allows the CA: %s', (_, properties) => expect(verdict(properties)).toBe('allowed'))

test('CAA allows the CA bound to an account, and says so: the account is not known before the first issuance', () => {
  const bound = issue('ca.test; accounturi=https://ca.test/acct/1')
  expect(asked(bound)).toEqual({ verdict: 'allowed', because: 'allow ca.test, but only for one account' })
  expect(asked([...bound, ...issue('ca.test')]).because).toBe('allow ca.test')
})

test.each<[string, CaaProperty[]]>([
  ['when others are named', issue('other.test')],
  ['when nobody is', issue(';')],
  ['when nobody is, in other words', issue('')],
  ['when it is only the parent of what is named', issue('www.ca.test')],
  ['when only another method is allowed', issue('ca.test; validationmethods=http-01')],
  ['when no method is allowed', issue('ca.test; validationmethods=')],
  ['when the record for it is malformed', issue('ca.test; x')],
  ['when the record for it has two names', issue('ca.test other.test')],
  ['by a critical property that is not known', [...issue('ca.test'), property('future', 'x', true)]],
])('CAA forbids the CA: %s', (_, properties) => expect(verdict(properties)).toBe('forbidden'))

test('CAA forbids the CA and names the record that does', () => {
  expect(asked(issue('other.test')).because).toBe('allow only other certificate authorities: issue "other.test"')
  const strange = property('future', 'x\n"', true)
  expect(asked([strange]).because).toContain('future "x\\n\\""')
})

describe('a wildcard', () => {
  const wild = (...properties: CaaProperty[]) => asked(properties, { wildcard: true })
  const issuewild = (value: string) => property('issuewild', value)

  test('goes by issuewild where there is any, whatever issue says', () => {
    expect(wild(issuewild('ca.test'), ...issue(';')).verdict).toBe('allowed')
    const other = wild(issuewild('other.test'), ...issue('ca.test'))
    expect(other).toMatchObject({ verdict: 'forbidden', record: { tag: 'issuewild', value: 'other.test' } })
    expect(wild(issuewild(';'), issuewild('ca.test')).verdict).toBe('allowed')
    expect(wild(issuewild('ca.test; x')).verdict).toBe('forbidden')
  })

  test('goes by issue where there is none', () => {
    expect(wild(...issue('ca.test')).verdict).toBe('allowed')
    expect(wild(...issue(';'))).toMatchObject({ verdict: 'forbidden', record: { tag: 'issue', value: ';' } })
    expect(wild(property('iodef', 'mailto:a@lab.test')).verdict).toBe('allowed')
  })

  test('is stopped by what is critical and not known, like every name', () =>
    expect(wild(issuewild('ca.test'), property('future', 'x', true))).toMatchObject({ record: { tag: 'future' } }))
})

test('without a known name of the CA, a record that names one leaves it open', () =>
  expect(verdict(issue('other.test'), [])).toBe('unknown'))

test('without a known name of the CA, records that need no name decide all the same', () => {
  expect(verdict(issue(';'), [])).toBe('forbidden')
  expect(verdict([property('iodef', 'mailto:a@lab.test')], [])).toBe('allowed')
})

test('whatever the records hold, a CA is allowed only by its name or by the lack of any issue record', () => {
  const tag = fc.constantFrom('issue', 'issuewild', 'iodef', 'future')
  const known = fc.constantFrom('ca.test', ';', 'other.test', 'ca.test; a=b', 'ca.test;validationmethods=dns-01')
  const value = fc.oneof(fc.string(), known)
  const properties = fc.array(fc.record({ tag, value, critical: fc.boolean() }), { minLength: 1, maxLength: 4 })
  forAll(properties, (records) => {
    const issuing = records.filter((record) => record.tag === 'issue')
    const named = issuing.some((record) => record.value.toLowerCase().includes('ca.test'))
    if (issuing.length > 0 && !named) expect(verdict(records, ['ca.test'])).toBe('forbidden')
  })
})
