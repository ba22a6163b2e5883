/** Output keys by destination. Most destinations have only one output, which is stored without a set. */
export class OutputLists {
  private readonly lists = new Map<string, string | Set<string>>();

  /** Output keys in the order in which they were added. */
  of(to: string): Iterable<string> {
    const known = this.lists.get(to);
    return known === undefined ? [] : typeof known === 'string' ? [known] : known;
  }

  /** Adds an output key. Adding the same key twice has no effect. */
  add(to: string, key: string): void {
    const known = this.lists.get(to);
    if (known === undefined) this.lists.set(to, key);
    else if (typeof known !== 'string') known.add(key);
    else if (known !== key) this.lists.set(to, new Set([known, key]));
  }

  remove(to: string, key: string): void {
    const known = this.lists.get(to);
    if (known === undefined || typeof known === 'string') {
      if (known === key) this.lists.delete(to);
      return;
    }
    known.delete(key);
    if (known.size === 0) this.lists.delete(to);
  }
}
