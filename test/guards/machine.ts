import type { Cuts } from './cuts.ts'

/** What a command of root and the enrolment of an agent do not do for other users of the machine. */
export const MACHINE_GUARDS: Cuts = {
  'no link in a state folder is followed': [
    'return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)',
    'return openSync(path, flags | O_NONBLOCK)',
  ],
  'a second name of a file is no file of the state folder': [
    'if (!found.isFile() || found.nlink > 1) throw notOurs(path)',
    'if (!found.isFile()) throw notOurs(path)',
  ],
  'a folder on the way that others may write is not trusted': [
    '!trusted.includes(stats.uid) || isOpenToOthers(stats)',
    '!trusted.includes(stats.uid)',
  ],
  'root opens a file only where nobody else decides which one it is': '    if (!isRootsAlone(folder)) return\n',
  'a code of an enrolment is used up by the first who comes with it': [
    'if (!isRight || this.#isUsed || this.isGuessed) return false',
    'if (!isRight || this.isGuessed) return false',
  ],
  'a key is enrolled after it was confirmed': '      await confirm(keyFingerprint(wish.publicKey))\n',
  'a secret is written to no file that others may have open': [
    ' && (mode & 0o077) === 0) return file',
    ' && mode > 0) return file',
  ],
  'a passphrase is read from no file of another user': ['stats.uid === own || stats.uid === 0', 'stats.uid >= 0'],
}
