import type { NamedFile } from '../../runtime/named-file.ts'
import type { CopiedTable, RowPage, StoreSnapshot } from '../../store/ports/copy.ts'
import { type BackedUpFile, type BackupHead, type BackupLine, STORE_KEY, writeBackup } from './backup-file.ts'
import { type StatePlaces, stateFiles } from './state-files.ts'

export interface BackupParts extends StatePlaces {
  /** One state of the store, while services write to it. */
  readonly withSnapshot: <T>(work: (snapshot: StoreSnapshot) => Promise<T>) => Promise<T>
  /** The ids of the keys in the text of a key file. */
  readonly keyIds: (text: string) => readonly string[]
  /** Remembers that there is a backup. */
  readonly note: (report: BackupReport) => Promise<void>
  readonly version: string
  readonly now: () => number
}

export interface BackupReport {
  readonly file: string
  readonly bytes: number
  readonly isEncrypted: boolean
  readonly at: number
  readonly storeId: string
  readonly epoch: number
  readonly tables: readonly CopiedTable[]
  readonly files: number
}

/** The key file and the secrets in the store change together. A backup that caught them apart is made again. */
const TRIES = 3

/** Writes everything that a restore needs into one new file, while the service runs. */
export async function backup(
  file: NamedFile,
  passphrase: string | undefined,
  parts: BackupParts,
): Promise<BackupReport> {
  for (let tries = 1; ; tries += 1) {
    try {
      const report = await parts.withSnapshot((snapshot) => writeOnce(file, passphrase, snapshot, parts))
      await parts.note(report)
      return report
    } catch (error) {
      if (!(error instanceof KeyMissing) || tries === TRIES) throw error
    }
  }
}

class KeyMissing extends Error {}

async function writeOnce(
  target: NamedFile,
  passphrase: string | undefined,
  snapshot: StoreSnapshot,
  parts: BackupParts,
): Promise<BackupReport> {
  const { schema, storeId, epoch, keyId } = snapshot
  const head: BackupHead = { version: parts.version, at: parts.now(), schema, storeId, epoch, keyId }
  const tables: CopiedTable[] = []
  const written = new Contents(parts)
  const lines = async function* (): AsyncGenerator<BackupLine> {
    yield { head }
    for await (const page of snapshot.pages((table) => tables.push(table))) {
      written.add(page)
      yield { page }
    }
    for (const each of stateFiles(parts, written.unsettledRuns)) {
      written.addFile(each)
      yield { file: each }
    }
    written.assertOpens(keyId)
    yield { end: { tables, files: written.files } }
  }
  const bytes = await writeBackup(target, lines(), passphrase)
  const isEncrypted = passphrase !== undefined
  return { file: target.path, bytes, isEncrypted, at: head.at, storeId, epoch, tables, files: written.files }
}

/** What a backup has so far, as far as its parts depend on each other. */
class Contents {
  readonly #parts: Pick<BackupParts, 'keyIds' | 'storeKeyFile'>
  readonly #sealedWith = new Set<string>()
  readonly unsettledRuns: string[] = []
  #keys: readonly string[] = []
  files = 0

  constructor(parts: Pick<BackupParts, 'keyIds' | 'storeKeyFile'>) {
    this.#parts = parts
  }

  add({ table, rows }: RowPage): void {
    for (const row of rows) {
      if (table === 'secrets') this.#sealedWith.add(String(row.key_id))
      if (table === 'runs' && (row.state === 'running' || row.state === 'blocked'))
        this.unsettledRuns.push(String(row.run_id))
    }
  }

  addFile({ path, content }: BackedUpFile): void {
    this.files += 1
    if (path === STORE_KEY) this.#keys = this.#parts.keyIds(Buffer.from(content, 'base64').toString('utf8'))
  }

  /** Throws if the backup has a secret that nobody could open. */
  assertOpens(keyId: string | null): void {
    const needed = [...this.#sealedWith, ...(keyId === null ? [] : [keyId])]
    const missing = needed.find((id) => !this.#keys.includes(id))
    if (missing !== undefined)
      throw new KeyMissing(
        `The secrets in the store are sealed with ${missing}, which the key file ${this.#parts.storeKeyFile} does not have. ` +
          'No backup was written: nobody could open them. Copy the key file of a running instance here, with mode 0600.',
      )
  }
}
