import type { Guard } from './guard.ts'

const STATE_FILE = 'src/runtime/state-file.ts'
const STATE_FILE_TEST = 'test/integration/runtime/state-file.test.ts'
const PATH_OWNERS = 'src/runtime/path-owners.ts'
const PATH_OWNERS_TEST = 'test/integration/runtime/path-owners.test.ts'
const ENROLMENT = 'src/edge/authority/enrolment.ts'
const ENROLMENT_TEST = 'test/security/agent/enrolment.test.ts'

/** What a command of root and the enrolment of an agent do not do for other users of the machine. */
export const MACHINE_GUARDS: readonly Guard[] = [
  {
    name: 'no link in a state folder is followed',
    file: STATE_FILE,
    from: 'return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)',
    to: 'return openSync(path, flags | O_NONBLOCK)',
    breaks: 'The user of the service could let a command read another file.',
    test: STATE_FILE_TEST,
  },
  {
    name: 'a second name of a file is no file of the state folder',
    file: STATE_FILE,
    from: 'if (!found.isFile() || found.nlink > 1) throw notOurs(path)',
    to: 'if (!found.isFile()) throw notOurs(path)',
    breaks: 'What a command writes into the state folder would be written elsewhere.',
    test: STATE_FILE_TEST,
  },
  {
    name: 'a folder on the way that others may write is not trusted',
    file: PATH_OWNERS,
    from: '!trusted.includes(stats.uid) || isOpenToOthers(stats)',
    to: '!trusted.includes(stats.uid)',
    breaks: 'Another user could exchange the state folder between the look and the act of root.',
    test: PATH_OWNERS_TEST,
  },
  {
    name: 'root opens a file only where nobody else decides which one it is',
    file: 'src/runtime/named-file.ts',
    from: '    if (!isRootsAlone(folder)) return\n',
    to: '',
    breaks: 'A backup of root would be written wherever the user of the service lets a link lead.',
    test: 'test/integration/runtime/named-file.test.ts',
  },
  {
    name: 'a code of an enrolment is used up by the first who comes with it',
    file: ENROLMENT,
    from: 'if (!isRight || this.#isUsed || this.isGuessed) return false',
    to: 'if (!isRight || this.isGuessed) return false',
    breaks: 'Two agents would get certificates by one code, and the enrolled one might be that of a thief.',
    test: ENROLMENT_TEST,
  },
  {
    name: 'a key is enrolled after it was confirmed',
    file: ENROLMENT,
    from: '      await confirm(keyFingerprint(wish.publicKey))\n',
    to: '',
    breaks: 'Whoever sees a code first would become the edge, and be sent every key.',
    test: ENROLMENT_TEST,
  },
  {
    name: 'a secret is written to no file that others may have open',
    file: 'src/runtime/named-file.ts',
    from: ' && (mode & 0o077) === 0) return file',
    to: ' && mode > 0) return file',
    breaks: 'Whoever has opened an empty file before would read the backup that is written to it.',
    test: 'test/integration/runtime/named-file.test.ts',
  },
  {
    name: 'a passphrase is read from no file of another user',
    file: 'src/operate/private-line.ts',
    from: 'stats.uid === own || stats.uid === 0',
    to: 'stats.uid >= 0',
    breaks: 'Another user would choose the passphrase of a backup, and could read it.',
    test: 'test/integration/operate/private-line.test.ts',
  },
]
