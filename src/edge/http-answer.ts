/** The head of an HTTP/1 answer, as far as a visitor cares. */
export interface AnswerHead {
  readonly httpStatus: number
  /** Where the body begins. */
  readonly bodyAt: number
  /** Bytes of the body; undefined when only reading on would tell. */
  readonly bodyLength: number | undefined
  /** Whether the connection may carry another question. */
  readonly keepsAlive: boolean
  header(name: string): string | undefined
}

const LARGEST_HEAD = 64 * 1024

/** The final head in what has arrived so far; undefined: not all of it yet; null: this is no HTTP/1. Interim answers are passed over. */
export function readHead(bytes: Buffer): AnswerHead | undefined | null {
  for (let from = 0; ; ) {
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end < 0) return bytes.length > LARGEST_HEAD || !couldBeHttp(bytes, from) ? null : undefined
    const lines = bytes.toString('latin1', from, end).split('\r\n')
    const [, version, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] ?? '') ?? []
    if (code === undefined) return null
    const httpStatus = Number(code)
    if (httpStatus >= 200) return headOf(httpStatus, version === '1', lines.slice(1), end + 4)
    if (httpStatus === 101) return null
    from = end + 4
  }
}

const couldBeHttp = (bytes: Buffer, from: number): boolean =>
  'HTTP/1.'.startsWith(bytes.toString('latin1', from, from + 7))

function headOf(httpStatus: number, modern: boolean, lines: readonly string[], bodyAt: number): AnswerHead {
  const header = (name: string) => {
    const line = lines.find((candidate) => candidate.slice(0, name.length + 1).toLowerCase() === `${name}:`)
    return line?.slice(name.length + 1).trim()
  }
  const length = header('content-length')
  const bodyLength =
    httpStatus === 204 || httpStatus === 304
      ? 0
      : length !== undefined && /^\d{1,15}$/.test(length) && header('transfer-encoding') === undefined
        ? Number(length)
        : undefined
  const keepsAlive = modern && header('connection')?.toLowerCase() !== 'close'
  return { httpStatus, bodyAt, bodyLength, keepsAlive, header }
}
