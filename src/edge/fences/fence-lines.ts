import { HIGHEST_NUMBER, type HostFence, STORE_ID_GRAMMAR, type StoreFloor } from '../../model/run.ts'

/** A line of the file of fences. `handed`: a person has given the host to another store. */
export type FenceLine =
  | { readonly kind: 'fence'; readonly fence: HostFence }
  | { readonly kind: 'floor'; readonly floor: StoreFloor }
  | { readonly kind: 'handed'; readonly host: string; readonly store: string }

const STORE = STORE_ID_GRAMMAR.slice(1, -1)
/** A line that a crash cut off has no semicolon. Versions before floors wrote a fence without its store. */
const FENCE = new RegExp(`^(\\d+) (\\d+) (\\S+?)(?: (${STORE}))?;$`)
const FLOOR = new RegExp(`^(\\d+) floor (${STORE});$`)
const HANDED = new RegExp(`^handed (\\S+) (${STORE});$`)

const STORE_ID = new RegExp(STORE_ID_GRAMMAR)
const isStore = (text: string): boolean => STORE_ID.test(text)

/** Whether the store of a fence or floor can be written into a line. */
export const hasWritableStore = ({ store }: { readonly store?: string | undefined }): boolean =>
  store === undefined || isStore(store)

/** Begins with a line break, so that a line that a crash cut off does not run into these. */
export const textOfLines = (lines: readonly FenceLine[]): string =>
  `\n${lines.map((line) => `${textOf(line)};\n`).join('')}`

function textOf(line: FenceLine): string {
  if (line.kind === 'floor') return `${line.floor.epoch} floor ${line.floor.store}`
  if (line.kind === 'handed') return `handed ${line.host} ${line.store}`
  const { epoch, number, host, store } = line.fence
  return `${epoch} ${number} ${host}${store === undefined ? '' : ` ${store}`}`
}

/** Undefined for text that is no line of ours. */
export function lineIn(text: string): FenceLine | undefined {
  const [, epoch, number, host, store] = FENCE.exec(text) ?? []
  if (host !== undefined) {
    // An earlier version took higher ones: a service would refuse the whole list of an edge that tells one.
    const fence = { host, epoch: Number(epoch), number: Math.min(Number(number), HIGHEST_NUMBER) }
    return { kind: 'fence', fence: store === undefined ? fence : { ...fence, store } }
  }
  const [, floor, of] = FLOOR.exec(text) ?? []
  if (of !== undefined) return { kind: 'floor', floor: { epoch: Number(floor), store: of } }
  const [, given, to] = HANDED.exec(text) ?? []
  return given === undefined || to === undefined ? undefined : { kind: 'handed', host: given, store: to }
}

/** The epoch that a line brings. */
export const epochOf = (line: FenceLine): number =>
  line.kind === 'fence' ? line.fence.epoch : line.kind === 'floor' ? line.floor.epoch : 0
