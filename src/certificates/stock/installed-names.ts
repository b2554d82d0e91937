/** The first names of the pairs that were installed since they were last taken, so that only their folders are read again. */
export class InstalledNames {
  #names = new Set<string>()

  /** Must be called after the pair is in its folder. */
  add(name: string): void {
    this.#names.add(name)
  }

  take(): ReadonlySet<string> {
    const names = this.#names
    this.#names = new Set()
    return names
  }
}
