//! Checkpoints, proofs of one record, and a store held against what was signed before.

use proptest::prelude::*;
use spl::identity::{KeyPair, Keyring};
use spl::record::{Origin, RecordId, Sequence};
use spl::store::{
    AppendError, CHECKPOINT_EVERY, Fault, Proof, ProofError, SignedLink, Store, StoreError,
    StoreOptions,
};

use crate::support::{Folder, note, options, time};

/// Appends notes on a thread in one commit, from a clock on.
fn fill(store: &Store, thread: &'static str, clocks: std::ops::Range<i64>) {
    let written: Result<(), AppendError> = store.write(move |tx| {
        for clock in clocks {
            tx.append_next(note(thread, clock, "text"), Origin::Door)?;
        }
        Ok(())
    });
    written.expect("written");
}

fn append(store: &Store, clock: i64, text: &str) -> RecordId {
    let prepared = store.prepare(note("th_one", clock, text)).expect("prepared");
    store.append(prepared, Origin::Door).expect("appended").id
}

fn proof(store: &Store, id: RecordId) -> Proof {
    store.read(|reader| reader.proof(id)).expect("read").expect("a proof")
}

fn file(proof: &Proof) -> Vec<u8> {
    format!("{}\n", spl::canon::Value::from(proof.to_object())).into_bytes()
}

fn head(store: &Store) -> SignedLink {
    store.read(|reader| reader.head()).expect("read").expect("a head")
}

fn against(store: &Store, link: &SignedLink) -> Option<Fault> {
    store.verify_against(Some(link), |_, _| {}).expect("verified").fault
}

fn instance() -> String {
    KeyPair::from_seed(&[1; 32]).did().to_owned()
}

#[test]
fn a_checkpoint_stands_every_1024_records_however_they_are_committed() {
    let store = Store::in_memory(options()).expect("a store");
    fill(&store, "th_a", 0..1000);
    let first = append(&store, 0, "before any checkpoint");
    assert_eq!(proof(&store, first).end().at(), None, "the head");
    // One commit goes past two of them.
    fill(&store, "th_b", 0..1500);
    let verified = store.verify(|_, _| {}).expect("verified");
    assert_eq!((verified.records, verified.checkpoints, verified.fault), (2501, 2, None));
    let end = proof(&store, first);
    assert_eq!(end.end().sequence().get(), CHECKPOINT_EVERY);
    assert!(end.end().at().is_some());
    let last = append(&store, 1, "behind the newest one");
    assert_eq!(proof(&store, last).end().sequence().get(), 2502, "the head");
    assert_eq!(proof(&store, last).end(), &head(&store));
}

/// What is undone takes its checkpoint with it.
#[test]
fn a_write_that_fails_leaves_no_checkpoint() {
    let folder = Folder::new();
    let store = folder.open();
    let failed: Result<(), AppendError> = store.write(|tx| {
        for _ in 0..1100 {
            tx.append_next(note("th_a", 0, "text"), Origin::Door)?;
        }
        Err(StoreError::Full.into())
    });
    failed.expect_err("undone");
    fill(&store, "th_b", 0..1030);
    let verified = store.verify(|_, _| {}).expect("verified");
    assert_eq!((verified.records, verified.checkpoints, verified.fault), (1030, 1, None));
}

#[test]
fn a_proof_is_checked_without_the_store_and_stays_good() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store, "th_a", 0..1020);
    let id = append(&store, 0, "a thing that matters");
    fill(&store, "th_a", 0..10);
    let bytes = file(&proof(&store, id));
    fill(&store, "th_a", 0..2000);
    drop(store);
    drop(folder);
    let read = Proof::parse(&bytes).expect("a proof");
    assert_eq!(read.check(Some(&instance())), Ok(()));
    assert_eq!(read.check(None), Ok(()));
    assert_eq!(read.record().id(), id);
    assert_eq!(read.sequence(), Sequence::new(1021));
    let stranger = KeyPair::from_seed(&[9; 32]);
    let error = read.check(Some(stranger.did())).expect_err("another instance");
    assert_eq!(error, ProofError::OtherKey { signer: instance() });
}

/// A proof of a record with everything that a receipt may hold, short enough to try each byte.
fn small_proof() -> Vec<u8> {
    let store = Store::in_memory(options()).expect("a store");
    append(&store, 0, "before");
    let judged =
        spl::record::Draft { judged_by: Some("judge".into()), ..note("th_a", 3, "é \"q\"") };
    let prepared = store.prepare(judged).expect("prepared");
    let id = store.append(prepared, Origin::Door).expect("appended").id;
    append(&store, 1, "behind");
    append(&store, 2, "behind that");
    file(&proof(&store, id))
}

#[track_caller]
fn does_not_hold(bytes: &[u8], about: &str) {
    if let Ok(proof) = Proof::parse(bytes) {
        assert!(proof.check(None).is_err(), "{about}: {}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn no_byte_of_a_proof_can_be_another() {
    let bytes = small_proof();
    Proof::parse(&bytes).expect("a proof").check(None).expect("it holds");
    for place in 0..bytes.len() {
        // A digit or letter for another of its kind, the other case, and something of another kind.
        for flip in [0x01, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[place] ^= flip;
            does_not_hold(&changed, &format!("byte {place} ^ {flip:#x}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_proof_that_was_changed_anywhere_does_not_hold(
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        how in 0..3,
    ) {
        thread_local!(static PROOF: Vec<u8> = small_proof());
        let bytes = PROOF.with(Clone::clone);
        let place = place.index(bytes.len());
        let mut changed = bytes.clone();
        match how {
            0 => changed[place] = byte,
            1 => changed.insert(place, byte),
            _ => { changed.remove(place); }
        }
        // Without the end of the line it says the same.
        let same = changed == bytes || changed[..] == bytes[..bytes.len() - 1];
        prop_assume!(!same);
        does_not_hold(&changed, "changed");
    }
}

/// Parts of one proof do not make another hold.
#[test]
fn a_proof_cannot_be_put_together_from_two() {
    let store = Store::in_memory(options()).expect("a store");
    let one = append(&store, 0, "one");
    let two = append(&store, 1, "two");
    append(&store, 2, "three");
    let (one, two) = (proof(&store, one).to_object(), proof(&store, two).to_object());
    for part in ["end", "following", "previous", "receipt", "record"] {
        let mut mixed = one.clone();
        mixed.insert(part.into(), two[part].clone());
        if mixed == one {
            continue;
        }
        let text = spl::canon::Value::from(mixed).to_string();
        does_not_hold(text.as_bytes(), part);
    }
}

#[test]
fn a_store_that_was_put_back_is_found_by_what_was_kept() {
    let folder = Folder::new();
    let store = folder.open();
    let id = append(&store, 0, "first");
    let copy = folder.dir.path().join("older.db");
    store.backup(&copy, |_, _| {}).expect("copied");
    let older = head(&store);
    let proved = proof(&store, id);
    let lost = append(&store, 1, "second");
    let newer = head(&store);
    let lost = proof(&store, lost);
    for link in [&older, &newer, proved.end(), lost.end()] {
        assert_eq!(against(&store, link), None);
    }
    drop(store);
    // Whole in itself: every signature holds, the head is the newest row.
    let put_back = Store::open(&copy, options()).expect("a store");
    assert_eq!(put_back.verify(|_, _| {}).expect("verified").fault, None);
    assert_eq!(against(&put_back, &older), None);
    for link in [&newer, lost.end()] {
        let fault = against(&put_back, link).expect("found");
        let what = "rows are missing from here on: 2 were signed";
        assert_eq!((fault.sequence, fault.what.as_str()), (2, what));
    }
    // And a history that went on differently, signed by the very same key.
    append(&put_back, 1, "something else");
    append(&put_back, 2, "third");
    assert_eq!(put_back.verify(|_, _| {}).expect("verified").fault, None);
    let fault = against(&put_back, &newer).expect("found");
    let what = "the history up to here is another one than what was signed";
    assert_eq!((fault.sequence, fault.what.as_str()), (2, what));
    // The proof of what was undone holds all the same.
    assert_eq!(Proof::parse(&file(&lost)).expect("a proof").check(Some(&instance())), Ok(()));
}

#[test]
fn what_another_instance_has_signed_says_nothing_about_this_one() {
    let store = Store::in_memory(options()).expect("a store");
    append(&store, 0, "first");
    let keyring = Keyring::new(KeyPair::from_seed(&[9; 32]))
        .with_actor("did:sync:user:vera", KeyPair::from_seed(&[2; 32]));
    let other = Store::in_memory(StoreOptions::new(keyring, time())).expect("a store");
    append(&other, 0, "first");
    // The same record at the same time has the same signature, so the chain is the same.
    let fault = against(&store, &head(&other)).expect("found");
    assert_eq!(fault.sequence, 1);
    assert!(fault.what.contains("another key"), "{}", fault.what);
}

#[test]
fn a_kept_head_is_read_as_it_was_written_and_no_other_way() {
    let store = Store::in_memory(options()).expect("a store");
    append(&store, 0, "first");
    let head = head(&store);
    let text = spl::canon::Value::from(head.to_object()).to_string();
    assert_eq!(SignedLink::parse(text.as_bytes()).expect("a head"), head);
    assert_eq!(SignedLink::parse(format!("{text}\n").as_bytes()).expect("a head"), head);
    for place in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 1;
        assert!(SignedLink::parse(&bytes).is_err(), "byte {place}");
    }
    for other in ["", "{}", "null", "[]", &format!(" {text}"), &format!("{text}\n\n")] {
        assert!(SignedLink::parse(other.as_bytes()).is_err(), "{other}");
    }
}
