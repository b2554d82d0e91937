import { type Listing, listFiles, stampOf } from './pem-file.ts'

/**
 * The files of the folder of issued certificates. Every new pair is renamed into the folder, and then the store has a new version. So
 * the last listing holds as long as neither the folder nor the version differs.
 */
export class IssuedListing {
  readonly #folder: string
  readonly #version: (() => Promise<string>) | undefined
  #last: { readonly stamp: string; readonly listing: Listing; readonly call: number } | undefined
  #forgotten = 0

  /** Without a `version`, every call lists the folder. */
  constructor(folder: string, version: (() => Promise<string>) | undefined) {
    this.#folder = folder
    this.#version = version
  }

  async list(): Promise<Listing> {
    const call = this.#forgotten
    const stamp = await this.#stamp()
    const last = this.#last
    if (last && last.call === call && last.stamp === stamp) return last.listing
    const listing = await listFiles(this.#folder)
    this.#last = stamp === undefined ? undefined : { stamp, listing, call }
    return listing
  }

  /** The next call lists the folder, and so does one that is under way for whoever asks after this. */
  forget(): void {
    this.#forgotten += 1
  }

  /** Undefined if it cannot be told: then the folder is listed. */
  async #stamp(): Promise<string | undefined> {
    const [version, folder] = await Promise.all([this.#version?.().catch(() => undefined), stampOf(this.#folder)])
    return version === undefined || folder === undefined ? undefined : `${folder} ${version}`
  }
}
