'use strict';

const AMOUNT = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** A whole number of 10^-places as text without needless zeros. */
function formatScaled(value, places) {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  const sign = value < 0n ? '-' : '';
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Exact sum, least and greatest of amounts, all kept as units of 10^-places. */
class Amounts {
  #places = 0;
  #sum = 0n;
  #min = null;
  #max = null;

  /** Add an amount given as text; false if it is none. */
  add(text) {
    if (!AMOUNT.test(text)) {
      return false;
    }
    const point = text.indexOf('.');
    const places = point < 0 ? 0 : text.length - point - 1;
    this.#refine(places);
    const units = BigInt(text.replace('.', ''));
    const value = units * 10n ** BigInt(this.#places - places);
    this.#sum += value;
    if (this.#min === null || value < this.#min) {
      this.#min = value;
    }
    if (this.#max === null || value > this.#max) {
      this.#max = value;
    }
    return true;
  }

  /** Keep at least so many decimal places from now on. */
  #refine(places) {
    if (places <= this.#places) {
      return;
    }
    const factor = 10n ** BigInt(places - this.#places);
    this.#places = places;
    this.#sum *= factor;
    if (this.#min !== null) {
      this.#min *= factor;
      this.#max *= factor;
    }
  }

  get sum() {
    return formatScaled(this.#sum, this.#places);
  }

  get min() {
    return this.#min === null ? '' : formatScaled(this.#min, this.#places);
  }

  get max() {
    return this.#max === null ? '' : formatScaled(this.#max, this.#places);
  }

  /** Below, equal to or above zero, as this sum is to the other. */
  compareSum(other) {
    const mine = this.#sum * 10n ** BigInt(other.#places);
    const theirs = other.#sum * 10n ** BigInt(this.#places);
    return Number(mine > theirs) - Number(mine < theirs);
  }
}

module.exports = { Amounts };
