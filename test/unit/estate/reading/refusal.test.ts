import { describe, expect, test } from 'vitest'
import { refusalIn, refusalSentence } from '../../../../src/estate/reading/refusal.ts'

describe('what nginx says is told by kind and place, never in its words', () => {
  test.each([
    ['unknown directive "canary" in /etc/passwd:12', 'a directive is unknown (/etc/passwd, line 12)'],
    ['unexpected "}" in /etc/passwd:3', 'the syntax is wrong (/etc/passwd, line 3)'],
    [
      'bind() to 10.0.0.9:80 failed (99: Cannot assign requested address)',
      'the address of a listen directive is not an address of this machine',
    ],
    [
      'could not build server_names_hash, you should increase server_names_hash_bucket_size: 32',
      'a server_name is too long for server_names_hash_bucket_size, or there are too many for server_names_hash_max_size',
    ],
    ['canary', 'nginx -t failed'],
  ])('%s', (words, sentence) =>
    expect(refusalSentence(refusalIn(`nginx: [emerg] ${words}\nnginx: configuration file test failed\n`))).toBe(
      sentence,
    ),
  )

  test('a size of the tables of maps behind our include is told with its place', () => {
    const line = 'nginx: [emerg] "map_hash_bucket_size" directive is duplicate in /etc/passwd:4'
    expect(refusalSentence(refusalIn(line))).toMatch(/before the include of Drawbridge \(\/etc\/passwd, line 4\)$/)
  })

  test('text of a broken file that looks like a place is not told', () => {
    const printed = 'nginx: [emerg] unknown directive "x in /canary/secret:3\ny" in /etc/passwd:9'
    expect(refusalSentence(refusalIn(printed))).not.toContain('canary')
  })

  test('a file that the unit of the agent forbids is named, with the line that permits it', () => {
    const line = 'nginx: [emerg] open() "/etc/own.log" failed (30: Read-only file system)'
    expect(refusalIn(line, 'drawbridge-edge.service')).toEqual({
      isUnit: true,
      reason:
        'the agent may not write /etc/own.log (its unit forbids it). Run `systemctl edit drawbridge-edge` and add ReadWritePaths=/etc. ' +
        'Then run `systemctl restart drawbridge-edge`',
    })
    expect(refusalSentence(refusalIn(line, null))).toBe('a file system is read-only')
    const unknown = 'nginx: [emerg] open() "/canary/secret" failed (30: Read-only file system)'
    expect(refusalSentence(refusalIn(unknown, 'drawbridge-edge.service'))).toBe('a file system is read-only')
  })
})
