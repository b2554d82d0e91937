import type { Cuts } from './cuts.ts'

/** Nothing unproven stands, and nothing of others is overwritten. */
export const EDGE_GUARDS: Cuts = {
  'the engine takes only records of the grammar': [
    '      if (fault !== undefined)\n',
    "        if (fault === 'never')\n",
  ],
  'an edit in a generation without records is kept': [
    '!isFormer || isAsFormerlyRendered(entry, parts, listening)',
    'isFormer || !isFormer',
  ],
  'nginx tests a generation before it stands': [
    '    return refusal ? { refusal } : { staged }\n',
    '    return { staged }\n',
  ],
  'a generation whose reload is not proven is left': '      if (former !== undefined) await web.enterAgain(former)\n',
  'a change whose reload is not proven fails': [
    '      throw faultOf(folder, error)\n    }\n    outside.keep()',
    '    }\n    outside.keep()',
  ],
  'a change does not overwrite what somebody else wrote': [
    '    if (!recertified) throw edited(host, known)\n    return',
    '    if (recertified) return',
  ],
  'only the revision that was expected is replaced': [
    '  if (now?.revision === expected.revision) return\n',
    "  if (now?.revision !== '') return\n",
  ],
  'a link in the place of a file is an edit of somebody': [
    'const isLinked = seen.some((one) => one.isLink)',
    'const isLinked = seen.some((one) => one.isLink && !one.isLink)',
  ],
  'what a file is made from is read again': [
    'return known?.source === text ? known : new Shard(file, text)',
    'return known ?? new Shard(file, text)',
  ],
  'an edit after the decision is found': [
    'this.#next({ former, texts',
    'this.#next({ former: formerOf(folder, present.number), texts',
  ],
  'a change of many hosts leaves the event loop to others': [
    '        } as HostVerdict)\n        if (slices.isOver) await slices.next()\n',
    '        } as HostVerdict)\n',
  ],
  'pieces of work in one turn share a slice': '  if (known !== undefined) return known\n',
  'a file that cannot be read is not one that is missing': [
    '    if (isNone(error)) return none\n    throw faultOf(path, error)\n',
    '    return none\n',
  ],
  'a base file that cannot be read is not an empty one': [
    "const text = unlessNone(this.#path, () => readFileSync(this.#path, 'utf8'), '')",
    "let text = ''\n      try {\n        text = readFileSync(this.#path, 'utf8')\n      } catch {}",
  ],
  'a folder of hosts that cannot be listed is not an empty one': [
    'unlessNone(folder, () => readdirSync(folder), [])',
    '(() => { try { return readdirSync(folder) } catch { return [] } })()',
  ],
  'a fault of a file that may pass is not remembered': [
    'const faulty = { ...stamp, fault: found.code }',
    'const faulty = { ...stamp }',
  ],
  'a folder that cannot be listed is told': '      this.report(folder, null, listed.unreadable, context)\n',
  'our servers stay where they are while a part of the configuration is not read': [
    "  if (!hidesListens || 'reason' in chosen) return chosen\n",
    '  if (chosen) return chosen\n',
  ],
  'a main file that was changed, or is not UTF-8, is not overwritten': [
    '  if (content.equals(Buffer.from(text))) return\n',
    '  if (content.length > 0) return\n',
  ],
  'an edit in another encoding is carried along': ['bytesOf(text), mode)', 'text, mode)'],
  'what could not be read is not taken for what was read before': [
    '      this.#fresh.clear()\n      throw error\n',
    '      throw error\n',
  ],
  'an undo is not made without the list of generations': [
    "    if (errorCode(error) === 'ENOENT') return []\n    throw faultOf(generations, error)\n",
    '    return []\n',
  ],
  'notes of a release that cannot be read are not replaced': [
    "errorCode(error) === 'ENOENT' || error instanceof SyntaxError",
    "error !== 'never'",
  ],
  'an edit in the middle of a change begins it again': [' || !staged.isUpToDate()) {', ') {'],
  'private keys are not given to an nginx that logs them': [
    '          await this.#parts.web.assertNoDebugLog()\n',
    '          await undefined\n',
  ],
  'drafts are not written through a link': ['  if (!found.isDirectory()) throw', '  if (false) throw'],
  'an edge that is not prepared is not changed':
    'if (web.number === undefined) throw notPrepared(server, this.whyUnprepared)',
  'new workers have to answer after a reload':
    "  if (!(await edgeAnswers(settings, signal))) throw notReloaded('The new workers do not answer.')\n",
  'a reload that nginx refuses is not taken for one': [
    '    if (refusal) throw notReloaded(',
    '    if (refusal && isOver && !haveGone) throw notReloaded(',
  ],
  'the folder of an edge has one owner': ["database.exec('BEGIN EXCLUSIVE')", "database.exec('BEGIN')"],
  'nobody owns a folder after the end of its work': ['if (this.#isOver) throw', 'if (false) throw'],
  'an edge is changed by the owner of its folder only': ['    this.own()\n    if (floor)', '    if (floor)'],
  'an engine does one thing at a time': ["return this.#turns.run('', work)", 'return work()'],
  'a host that the edge refuses fails the step': ['  if (!fault) return\n', '  if (fault || !fault) return\n'],
  'an undo does not put a host back over an edit of others': [
    '  if (now?.isEdited && !known.isOnlyMissing(now)) throw edited(host, known)\n  return toward',
    '  return toward',
  ],
  'an undo of a run that has changed nothing changes nothing': [
    "  if (!then) return { kind: 'none', isLoaded: false }\n",
    '  if (!then) return toward(undefined, now)\n',
  ],
  'an undo puts back what stood before the first change of its run': [
    '    .find((number) => runsOf(edgeFolder, number).some((noted) => noted.run === run))',
    '    .findLast((number) => runsOf(edgeFolder, number).some((noted) => noted.run === run))',
  ],
  'a file that was not read refuses the site around it':
    "    for (const each of unreadIn(block)) this.#findings.refuse(each, notRead(each.unread ?? ''))\n",
  'a path with restrictions of its own refuses the site': [
    ' this.#findings.refuse(location, OTHERS_LET_IN)',
    ' this.#findings.carry(location)',
  ],
  'a folder that cannot be looked into is no empty one': ['    throw new HiddenPath()\n', '    return missing\n'],
  'a site on addresses of its own is not opened on others':
    "    if (found === 'restricted') this.#findings.refuse(line, RESTRICTED_ADDRESS)\n",
  'a header by which backends know visitors refuses the site':
    "  if (isCredential(name)) return finding('refused', CREDENTIAL)\n",
  'two blocks for the same visitors must say the same': '  judge.compare(blocks)\n',
  'a difference that no finding tells refuses the site': [
    '.filter((difference) => !isTold(difference, told))',
    '.filter(() => false)',
  ],
  "a name that does not fit nginx's hash tables is written as a pattern": ['<= BUCKET_BYTES', '<= 8 * BUCKET_BYTES'],
  'a long host is not planned behind a wildcard or a pattern':
    " || (same.how !== 'default' && !fitsHashTable(canonicalHost(host)))",
  'wildcards beyond the bound are told': [
    'cut: [{ path: configPath, line, sentence: CUT }] }',
    'cut: CUT === "" ? [{ path: configPath, line, sentence: CUT }] : [] }',
  ],
  'places to listen beyond the bound are told': [
    '    else if (listen.length > MAX_PLACES)\n',
    '    else if (listen.length < 0)\n',
  ],
  'what is not read of an edge is logged': [
    '      if (map) this.#tell(server, map.broken)\n',
    '      if (!map) this.#tell(server, [])\n',
  ],
  'a check that is stored with a time in the future delays no other one': [
    'Math.min(lastAt ?? now, now)',
    'lastAt ?? now',
  ],
  'the edge is read again although the clock was set back': [
    'const now = this.#parts.clock.monotonic()',
    'const now = this.#parts.clock.now()',
  ],
  'a trouble from before the clock was set back is alerted': [
    'if (!trouble || trouble.since <= now) return',
    'if (now) return',
  ],
  'the first change of a host after a page was opened is told': ['noted ?? (former && shownOf(former))', 'noted'],
  'a host that stands already is not taken for a new one': [
    "  if (expected === 'absent') {\n    if (!now) return\n",
    "  if (expected === 'absent') {\n    if (!now || now) return\n",
  ],
  'a challenge is of the grammar of ACME': [
    'if (answer !== null && !isChallenge({ token, answer }))',
    'if (answer !== null && !token)',
  ],
  'an entry gets only a certificate that is for its host': [
    'if (certificate !== null && !pairs.isFor(certificate, host))',
    'if (certificate !== null && !pairs.has(certificate))',
  ],
  'a base file that names a generation that is not kept names none': [
    'told.filter((number) => isKept(edgeFolder, number))',
    'told.filter((number) => number > 0)',
  ],
  'hosts since a restored base file are not lost': [
    '[named, linkedNumber(edgeFolder)]',
    '[named ?? linkedNumber(edgeFolder)]',
  ],
  'what was entered is no left-over of a crash': [
    'Math.max(present ?? 0, linkedNumber(edgeFolder) ?? 0)',
    'Math.max(present ?? 0, 0 * (linkedNumber(edgeFolder) ?? 0))',
  ],
  'a start writes a restored base file anew': [
    'present.isIncluded && isSameBase(staged)',
    'present.number !== undefined && isSameBase(staged)',
  ],
  'a host is not told to stand where nginx includes another generation': [
    '!(isAway && isNeeded)',
    '(isAway || !isAway || isNeeded)',
  ],
  'the link goes back before the base file': '    pointTo(folder, number)\n',
  'an edited host that cannot be rendered stays as it is': [
    'const texts = renderedAs(standing, this.#parts.listening)',
    'const texts = standing.entry && renderParts(standing.entry, this.#parts.listening, standing.challenge)',
  ],
  'an edited host gets its next certificate whatever its options name': [
    'certificateLine(host, entry.certificate))',
    "renderParts(entry, this.#parts.listening).get('tls/hosts') ?? certificateLine(host, ''))",
  ],
  'an undo puts back what cannot be rendered any more': [
    'isEdited ? undefined : renderedAs(standing, this.#parts.listening)',
    'isEdited || !entry ? undefined : renderParts(entry, this.#parts.listening, challenge)',
  ],
  'a certificate that an administrator has assigned is in use': [
    'for (const id of certificatesOf(standing)) used.add(id)',
    'for (const id of certificatesOf({ ...standing, isEdited: false })) used.add(id)',
  ],
  'a certificate that a kept generation has assigned is in use': "  ['tls/hosts', certificateIn],\n",
  'what nginx has of an assigned certificate stays': ' || present.hasPem(id)',
  'a file of others is included whatever its name means to nginx': ["name.replaceAll(/[\\\\\"]/g, '\\\\$&')", 'name'],
  'a file of others is not included as a pattern': [
    "isGlob(path) ? path.replaceAll(/[\\\\*?[\\]]/g, '\\\\$&') : path",
    'path',
  ],
  'a new version leaves an entry that somebody edited': ['if (!entry || isEdited) continue', 'if (!entry) continue'],
  'a change of which the edge refuses one host is put back on the others':
    "  if (verdicts.some(({ state }) => state === 'serving')) throw new StepFault(fault.message, { cause: fault })\n",
}
