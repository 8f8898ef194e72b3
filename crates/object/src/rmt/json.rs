//! Maps in JSON, each key once.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A map in which no key stands twice.
pub(super) fn once<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord + fmt::Display,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Once<K, V>(PhantomData<(K, V)>);
    impl<'de, K: Deserialize<'de> + Ord + fmt::Display, V: Deserialize<'de>> Visitor<'de> for Once<K, V> {
        type Value = BTreeMap<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<K, V>()? {
                if all.contains_key(&key) {
                    return Err(A::Error::custom(format!("`{key}` stands twice, once is allowed")));
                }
                all.insert(key, value);
            }
            Ok(all)
        }
    }
    from.deserialize_map(Once(PhantomData))
}
