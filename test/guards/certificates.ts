import type { Cuts } from './cuts.ts'

/** An authority is not asked too often, and a pair that does not fit is not used. */
export const CERTIFICATE_GUARDS: Cuts = {
  'a limit of the authority is not exceeded': ['if (worst && worst.waitMs > 0) {', 'if (false) {'],
  'a failure is followed by a pause': ['if (restMs > 0) {', 'if (false) {'],
  'an order is judged when it is placed': '        assertAllowed(await judge(request, session), directory)\n',
  'an order is counted before it is placed':
    "        await session.appendLedger({ ...line(request.names), kind: 'ordered' })\n",
  'the authority decides how long to wait':
    '          await session.pauseAuthority(directory, pause, latestPause(at))\n',
  'what a clock wrote that was ahead has a time that has come': ['lines: settled(lines, at)', 'lines'],
  'a pause is over that no authority can have asked for': [
    '(isPaused(until, LONGEST_PAUSE_MS, now) ? until : 0)',
    'until',
  ],
  'a pause that no authority can have asked for is replaced': ", eb(column, '>', latest)",
  'a renewal waits no longer than the longest pause': [
    'isPaused(nextAttemptAt, LONGEST_PAUSE_MS, this.#parts.clock.now())',
    'this.#parts.clock.now() < nextAttemptAt',
  ],
  'an authority is asked for its advice after a day': [
    'isPaused(renewal.advice?.askAgainAt ?? 0, LONGEST_ADVICE_MS, clock.now())',
    'clock.now() < (renewal.advice?.askAgainAt ?? 0)',
  ],
  'a refusal that says when to come again is a pause': [', retryAfter)\n  // Let', ')\n  // Let'],
  'an order is not gone when the authority wants to be asked later': ' && error.retryAfter === undefined',
  'the certificate of an order is counted once': ['if (!isRecorded(lines)) await', 'await'],
  'an order goes on with the key that its instance shared': [
    'keyPem !== (await readIfExists(files.key))',
    '!existsSync(files.key)',
  ],
  'an issued certificate is for the key of its order':
    "  if (publicKeyDigest(leaf.publicKey) !== keyDigest(keyPem)) throw new UnusablePemFile('is for another key')\n",
  'an issued certificate covers the names of its order': [
    '  if (missing) throw new UnusablePemFile(',
    '  if (false) throw new UnusablePemFile(',
  ],
  'a pair that was replaced on the disk is not used': [
    "  if (leaf?.fingerprint256 !== fingerprint) throw unusable(certificateFile, 'has another certificate than before')\n",
    '  if (!leaf) throw unusable(certificateFile, "")\n',
  ],
  'the key of a pair belongs to its certificate': ['keys.find((text) => keyDigest(text) === wanted)', 'keys[0]'],
  'a sealed secret cannot stand in the place of another': [
    'Buffer.from(JSON.stringify([name, keyId]))',
    'Buffer.from(keyId)',
  ],
  'a folder of too many files is told': [
    '  if (cutFrom === undefined) return []\n',
    '  if (cutFrom !== undefined) return []\n',
  ],
  'an issued certificate of the index is given only if its files are there': [
    'if (!first?.issued || issued === undefined || (await isUnchanged(index, first))) return first',
    'if (first || issued === undefined) return first',
  ],
  'the inventory reads the folders of the names that were installed': [
    '[...again, ...names.flatMap((name) => foldersOfName(issued, name))]',
    '[...again]',
  ],
  'the inventory looks for a pair where its former one is put':
    "  ...foldersOfName(issued, basename(dirname(file)).replace('_wildcard', '*')),\n",
  'the times at which certificates are stored grow whatever the clocks of instances say': [
    'Math.max(now(), (await session.newestCertificate()) + 1)',
    'now()',
  ],
  'a secret is dropped under the sealing key': [
    '      await session.holdSealingKey()\n      await session.deleteSecret(name)\n',
    '      await session.deleteSecret(name)\n',
  ],
}
