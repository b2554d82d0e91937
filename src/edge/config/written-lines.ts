import { OWN_TLS } from './own-tls.ts'
import { CHALLENGE_PATH } from './render-lines.ts'

/**
 * How the lines of an entry are written into nginx's files. An entry keeps its text in every version; this is the form that fits
 * nginx's hash tables of default size. Their size cannot be ours to set: a directive that may occur only once would make the
 * administrator's own invalid. So keys are host names only, and a name that is too long is written as a pattern.
 */
export interface Writing {
  /** One line with its line break, as nginx gets it. A line of another form stays as it is. */
  readonly written: (line: string) => string
  /** The line of the entry. Inverse of `written`; also accepts the form of earlier versions, which is the line itself. */
  readonly read: (line: string) => string
}

/** nginx's default bucket is one cache line; those of x86-64 and arm64 have 64 bytes. A pointer has 8. */
const BUCKET_BYTES = 64
const POINTER_BYTES = 8

/** Whether nginx can build a hash table with this key. An element has two pointers, the length in two bytes, and the key, aligned. */
export function fitsHashTable(key: string): boolean {
  const aligned = Math.ceil((key.length + 2) / POINTER_BYTES) * POINTER_BYTES
  return POINTER_BYTES + aligned + POINTER_BYTES <= BUCKET_BYTES
}

const HOST = '[a-z0-9_-]+(?:\\.[a-z0-9_-]+)+'
const ESCAPED = '[a-z0-9_-]+(?:\\\\\\.[a-z0-9_-]+)+'
const escaped = (host: string): string => host.replaceAll('.', '\\.')
const unescaped = (host: string): string => host.replaceAll('\\.', '.')

/** A host as the name of a server. Hosts have no character but the dot that means something in a pattern. */
const serverName = (host: string): string => (fitsHashTable(host) ? host : `"~^${escaped(host)}$"`)
/** A host as the key of a map. Maps ignore case, and visitors may ask for a certificate in capitals. */
const mapKey = (host: string): string => (fitsHashTable(host) ? host : `"~*^${escaped(host)}$"`)

/** The host that a server_name or the key of a map stands for if it is a long name in our form, without its quotes. */
export const hostInServerName = (name: string): string | undefined => longHost(PATTERN_NAME.exec(name)?.[1])
export const hostInMapKey = (key: string): string | undefined => longHost(PATTERN_KEY.exec(key)?.[1])
const PATTERN_NAME = new RegExp(`^~\\^(${ESCAPED})\\$$`)
const PATTERN_KEY = new RegExp(`^~\\*\\^(${ESCAPED})\\$$`)

const longHost = (pattern = ''): string | undefined =>
  fitsHashTable(unescaped(pattern)) ? undefined : unescaped(pattern)

/** Reads only what would be written so: any other form of the same line is somebody else's. */
const writing = (written: Writing['written'], read: Writing['read']): Writing => ({
  written,
  read: (line) => {
    const own = read(line)
    return own !== line && written(own) === line ? own : line
  },
})

const NAME = new RegExp(`^server_name (${HOST});\n$`)
const WRITTEN_NAME = new RegExp(`^server_name "~\\^(${ESCAPED})\\$";\n$`)
export const SERVER_NAME: Writing = writing(
  (line) => line.replace(NAME, (_, host: string) => `server_name ${serverName(host)};\n`),
  (line) => line.replace(WRITTEN_NAME, (_, host: string) => `server_name ${unescaped(host)};\n`),
)

const KEYED = new RegExp(`^(${HOST}) (?=\\S+;\n$)`)
const WRITTEN_KEYED = new RegExp(`^"~\\*\\^(${ESCAPED})\\$" `)
export const BY_HOST: Writing = writing(
  (line) => line.replace(KEYED, (_, host: string) => `${mapKey(host)} `),
  (line) => line.replace(WRITTEN_KEYED, (_, host: string) => `${unescaped(host)} `),
)

const ANSWER = new RegExp(`^"(${HOST}) ([0-9a-f]{32})" ([0-9a-f]{32});\n$`)
const WRITTEN_ANSWER = new RegExp(`^(?:(${HOST})|"~\\*\\^(${ESCAPED})\\$") ([0-9a-f]{32}):([0-9a-f]{32});\n$`)
/** The question and the answer of a host are one value: the base file compares the question. */
export const ANSWERS: Writing = writing(
  (line) =>
    line.replace(
      ANSWER,
      (_, host: string, question: string, answer: string) => `${mapKey(host)} ${question}:${answer};\n`,
    ),
  (line) =>
    line.replace(
      WRITTEN_ANSWER,
      (_, plain: string | undefined, long: string | undefined, question: string, answer: string) =>
        `"${plain ?? unescaped(long ?? '')} ${question}" ${answer};\n`,
    ),
)

const CHALLENGE = new RegExp(`^"(${HOST}) ${escapedText(CHALLENGE_PATH)}([A-Za-z0-9_-]+)" `)
const WRITTEN_CHALLENGE = new RegExp(`^"~\\^(${ESCAPED}) ${escapedText(escaped(CHALLENGE_PATH))}([A-Za-z0-9_-]+)\\$" `)
/** There are few at a time, and none fits a hash table. */
export const CHALLENGES: Writing = writing(
  (line) =>
    line.replace(
      CHALLENGE,
      (_, host: string, token: string) => `"~^${escaped(host)} ${escaped(CHALLENGE_PATH)}${token}$" `,
    ),
  (line) =>
    line.replace(
      WRITTEN_CHALLENGE,
      (_, host: string, token: string) => `"${unescaped(host)} ${CHALLENGE_PATH}${token}" `,
    ),
)

/** Server blocks with the name of their host as nginx gets it. */
export const withWrittenName = (host: string, text: string): string =>
  text.replaceAll(nameLine(host), () => nameLine(serverName(host)))

/**
 * The server blocks of an entry as nginx gets them. Their TLS server has the certificates itself, whoever is the default server. A text
 * of an earlier version may have both already.
 */
export const writtenBlock = (host: string, text: string): string =>
  withWrittenName(
    host,
    inTlsServer(text, (server) =>
      server.includes('\n  ssl_certificate ')
        ? server
        : server
            .replaceAll(/^( {2}listen \S+);$/gm, (_, listen: string) => `${listen} ssl;`)
            .replace(nameLine(host), (name) => `${name}${OWN_TLS}\n`),
    ),
  )

/** Inverse of `writtenBlock`; also accepts the form of earlier versions, which is the text itself. */
export function readBlock(host: string, text: string): string {
  const named = text.replaceAll(nameLine(serverName(host)), () => nameLine(host))
  const own = inTlsServer(named, (server) =>
    server
      .replace(`${nameLine(host)}${OWN_TLS}\n`, () => nameLine(host))
      .replaceAll(/^( {2}listen \S+) ssl;$/gm, (_, listen: string) => `${listen};`),
  )
  return writtenBlock(host, own) === text ? own : text
}

const nameLine = (name: string): string => `\n  server_name ${name};\n`

/** Changes the last server of an entry with TLS. */
function inTlsServer(text: string, change: (server: string) => string): string {
  const at = text.lastIndexOf('\nserver {\n')
  return at < 0 || !text.includes(CHOSEN_BY_NAME) ? text : text.slice(0, at) + change(text.slice(at))
}

/** In the header of server blocks with TLS. */
export const CHOSEN_BY_NAME = '\n# Its certificate is chosen by name in drawbridge.conf.'

function escapedText(text: string): string {
  return text.replaceAll(/[\\.]/g, '\\$&')
}
